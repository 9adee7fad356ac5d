// The parts of the ascii encoder. Each writes one group of records in exactly the form that parsers of the
// original's text expect: widths, blanks and keywords are a part of the format.
#pragma once

#include <hprof/record.h>

#include "text_out.h"

namespace hprof::ascii {

// prelude.cpp
void write_prelude(TextOut& out, const hprof_rec_file_begin& begin);

// tables.cpp
void write_table(TextOut& out, const hprof_rec_table& table);

// monitors.cpp
void write_monitor_event(TextOut& out, const hprof_rec_monitor_event& event);
void write_monitor_dump(TextOut& out, const hprof_rec_monitor_dump& dump);

// heap.cpp
void write_heap_begin(TextOut& out, const hprof_rec_heap_dump& dump);
void write_heap_root(TextOut& out, const hprof_rec_heap_root& root);
void write_heap_class(TextOut& out, const hprof_rec_heap_class& dump);
void write_heap_instance(TextOut& out, const hprof_rec_heap_instance& instance);
void write_heap_array(TextOut& out, const hprof_rec_heap_array& array);

}  // namespace hprof::ascii
