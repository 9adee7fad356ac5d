// What the parts of the ascii encoder share. Each writes one group of records, in the shapes that the parsers
// of the original's text have been made for: widths, blanks and keywords are interface.
#pragma once

#include <hprof/record.h>

#include "text_out.h"

namespace hprof::ascii {

// prelude.cpp
void write_prelude(TextOut& out, const hprof_rec_file_begin& begin);

// tables.cpp
void write_cpu_table(TextOut& out, const hprof_rec_cpu_table& table);
void write_cpu_old(TextOut& out, const hprof_rec_cpu_old& table);
void write_sites(TextOut& out, const hprof_rec_alloc_sites& sites);
void write_heap_summary(TextOut& out, const hprof_rec_heap_summary& summary);
void write_vendor(TextOut& out, const hprof_rec_vendor& record);

// monitors.cpp
void write_monitor_time(TextOut& out, const hprof_rec_monitor_time& table);
void write_monitor_event(TextOut& out, const hprof_rec_monitor_event& event);
void write_monitor_dump(TextOut& out, const hprof_rec_monitor_dump& dump);

// heap.cpp
void write_heap_begin(TextOut& out, const hprof_rec_heap_dump& dump);
void write_heap_root(TextOut& out, const hprof_rec_heap_root& root);
void write_heap_class(TextOut& out, const hprof_rec_heap_class& dump);
void write_heap_instance(TextOut& out, const hprof_rec_heap_instance& instance);
void write_heap_array(TextOut& out, const hprof_rec_heap_array& array);

}  // namespace hprof::ascii
