// latency=: how long the calls of chosen methods take, waits and virtual threads included.
//
// Probes call java.lang.HprofLatency (java/), whose native methods are those of timed_methods.h, at the
// beginning of each call and at its end, by return or by exception. A method's calls go into a histogram
// (<hprof/cpp/histogram.hpp>).
#pragma once

#include <hprof/collector.h>

#include "latency_report.h"
#include "timed_methods.h"

namespace hprof::latency {

struct Config {
  const char* latency;  // patterns of classes and methods
  uint64_t events_ns;   // the least time of a call that is an event; 0: none is
};

class Collector {
 public:
  Collector(const hprof_host* host, const Config& config) : services_(host), config_(config) {}
  hprof_status open(char* error, uint32_t error_size);
  hprof_status start();
  void stop();
  hprof_status report(const hprof_report& report);
  void reset();
  bool close();

 private:
  Services services_;
  Config config_;
  TimedMethods methods_;
  Report report_;
  uint32_t probes_ = 0;   // of the service
  bool is_held_ = false;  // a thread still writes an event
};

}  // namespace hprof::latency
