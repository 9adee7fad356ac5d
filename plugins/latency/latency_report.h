// The tables of call latencies.
#pragma once

#include <hprof/collector.h>

#include "timed_methods.h"

namespace hprof::latency {

// Writes them: durations since the start or, with every=, since the last window.
class Report {
 public:
  void open(const Services& services) { services_ = services; }
  void close();
  hprof_status write(const TimedMethods& methods, const hprof_report& report);
  void reset();

 private:
  struct Rows;
  // The calls of a method that run.
  struct Running {
    hprof_method_id method;
    uint64_t calls;
    uint64_t least_ns, most_ns;  // age of the oldest
  };
  static constexpr uint32_t kMostNamed = 8;
  void name_running(hprof_method_id method, const Counts& counts);
  hprof_status note_running() const;
  void add(uint32_t number, const hprof_report& report, Rows* rows);
  hprof_status write_tables(const Rows& rows);
  hprof_status write_notes(const TimedMethods& methods, const Rows& rows);
  void keep(uint32_t number, const Counts& whole);

  Services services_;
  Counts* windows_[kNumbers] = {};  // by method number: what the last window has seen; null: nothing
  uint64_t running_ = 0;            // calls, of this report
  Running named_[kMostNamed] = {};  // the oldest first
  uint32_t named_count_ = 0;
};

}  // namespace hprof::latency
