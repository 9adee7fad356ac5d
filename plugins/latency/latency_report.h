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
  hprof_status write(TimedMethods& methods, uint32_t probes, const hprof_report& report);
  void reset();

 private:
  struct Rows;
  void add(uint32_t number, const hprof_report& report, Rows* rows);
  hprof_status write_tables(Rows* rows);
  hprof_status write_notes(const TimedMethods& methods, uint32_t probes, const Rows& rows);
  hprof_status write_untimed(uint32_t probes) const;
  void keep(uint32_t number, const Counts& whole);

  Services services_;
  Counts* windows_[kNumbers] = {};     // by method number: what the last window has seen; null: nothing
  uint64_t running_ = 0, failed_ = 0;  // calls, of this report
  uint64_t without_window_ = 0;        // methods, of this report
};

}  // namespace hprof::latency
