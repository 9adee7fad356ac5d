// The report of cpu=times and cpu=old: one table, then notes on how the times were measured.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>

#include "graph.h"
#include "tally.h"

namespace hprof::times {

struct Circumstances {
  bool old;
  Times times;
  bool counter;  // clock=wall by the processor's counter, not System.nanoTime
  uint64_t interval_ns;
  uint64_t clock_step_ns;  // clock=cpu: step of CPU clocks; 0: not known
  uint64_t outside_ns;     // CPU time in methods that are not counted
  uint64_t process_ns;     // CPU time of the whole process while calls were counted; 0: not known
  uint64_t threads;        // live platform threads
  uint64_t virtual_threads;
  uint64_t traces;
  uint32_t depth;                 // methods kept of a trace
  uint32_t probes;                // of the service
  hprof_trace_serial lost_trace;  // of rows for whose trace the agent's tables have no room
};

// The most memory that a report takes for each trace. Any thread.
uint64_t report_bytes_of_trace(uint32_t depth);

// Sorts the rows of `tally`. [control]
hprof_status write_report(const Services& services, const Tally& tally, const Circumstances& how,
                          double cutoff);

}  // namespace hprof::times
