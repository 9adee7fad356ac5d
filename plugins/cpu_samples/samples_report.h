// The report: the table as one CPU_SAMPLES record, then notes on how it was come by.
#pragma once

#include <cstdint>

#include <hprof/collector.h>
#include <hprof/cpp/services.hpp>

#include "plugins/cpu_samples/sample_book.h"

namespace hprof::samples {

// What was counted, copied so that counting goes on while it is written.
struct Snapshot {
  hprof_cpu_row* rows = nullptr;
  uint64_t row_count = 0;
  uint64_t row_room = 0;
  uint64_t total = 0;
  uint64_t looks = 0, equal_looks = 0;
  uint64_t reasons[kReasonCount] = {};
  hprof_cpu_row small[1] = {};  // the rows when there is one only, or no memory for more

  // Whoever calls has the book's turn. Never empty: no samples at all give one row of count 0, under a
  // synthetic frame. [control]
  void take(const Services& services, const SampleBook& book);
  void release(const Services& services);
};

// How the samples were come by.
struct Circumstances {
  const char* engine;  // "signal", "jvmti" ...; null: never started
  uint64_t interval_ns;
  uint64_t watched_ns;      // wall time while sampling
  uint64_t process_cpu_ns;  // CPU time of the whole process meanwhile; 0: not known
};

// Ranks the snapshot's rows and emits the records. [control]
hprof_status write_report(const Services& services, Snapshot* snapshot, const Circumstances& how,
                          double cutoff);

}  // namespace hprof::samples
