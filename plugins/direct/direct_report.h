// The tables of direct memory and mapped files.
#pragma once

#include "collector.h"

namespace hprof::direct {

struct Row {
  uint64_t kind;   // hprof_string_id
  uint64_t trace;  // hprof_trace_serial
  uint64_t live_bytes, live_objects;
  uint64_t allocated_bytes, allocated_objects;
};

// One report. [control]
class DirectReport {
 public:
  DirectReport(const Services& services, const hprof_report& report) : services_(services), report_(report) {}
  // The table of that name; no table if nobody wants it, or no file was mapped.
  hprof_status write(const char* name, const Collector::Sites& sites);
  // After the tables.
  hprof_status write_notes(uint32_t probes);

 private:
  bool row_of(uint64_t key, const Site& site, bool is_mapped, Row* row);

  const Services& services_;
  const hprof_report& report_;
  uint64_t reserved_bytes_ = 0;  // live, as the VM counts them
  uint64_t left_out_ = 0;
};

}  // namespace hprof::direct
