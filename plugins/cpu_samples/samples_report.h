// The report of cpu=samples: one table, then notes on how the samples were taken.
#pragma once

#include <cstdint>

#include <hprof/collector.h>
#include <hprof/cpp/report_rows.hpp>

#include "sample_book.h"
#include "vm_threads.h"

namespace hprof::samples {

// A copy of the counts, so that counting can go on while the report is written.
struct Snapshot {
  explicit Snapshot(const Services& services) : table(services) {}

  ReportRows<SampleRow, SampleIsBefore> table;
  SampleRow* rows = small;
  uint64_t row_count = 1;
  uint64_t total = 0;
  uint64_t samples = 0, effective_samples = 0;
  uint64_t other_labels = 0;
  uint64_t reasons[kReasonCount] = {};
  uint64_t found[kFoundCount] = {};
  uint64_t kinds[HPROF_FRAME_KINDS] = {};
  SampleRow small[1] = {};  // the row if there are no samples, or no memory for more

  // The caller holds the book's lock. Never empty: without samples there is one row of count 0, under a
  // synthetic frame. Samples of rows for which there is no memory are in one row. [control]
  void take(const SampleBook& book);
  void take_rows(const SampleBook& book);
};

// How the samples were taken.
struct Circumstances {
  const char* engine;     // "signal", "jvmti" ...; null: never started
  const char* why_jvmti;  // why the JVMTI engine samples some or all threads instead; null: it does not
  uint64_t interval_ns;
  uint64_t watched_ns;                  // wall time while sampling
  uint64_t process_cpu_ns;              // CPU time of the whole process meanwhile; 0: not known
  bool is_elapsed;                      // samples are of elapsed time (clock=wall), not of CPU time
  const Labels& labels;                 // of the book
  const char* unknown_names = nullptr;  // threads=, where no thread had such a name; null: one had
  uint64_t clock_step_ns = 0;           // step of the CPU clocks; 0: fine
  uint64_t vm_threads_ns[VmThreads::kKinds] = {};  // CPU time of the VM's threads by kind
};

// Ranks the snapshot's rows and emits the records. [control]
hprof_status write_report(const Services& services, Snapshot* snapshot, const Circumstances& how,
                          double cutoff);

}  // namespace hprof::samples
