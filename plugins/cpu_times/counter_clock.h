// clock=wall: the processor's time-stamp counter instead of System.nanoTime, where the operating system
// relies on it. HprofCalls reads it by a native method, a call and one unordered instruction, in less than
// half the time of System.nanoTime, which calls the C library. The length of a tick is measured.
#pragma once

#include <cstdint>

#include <hprof/cpp/counter_rate.hpp>

namespace hprof::times {

// A sum of ticks. The counter is read unordered, so a short time may come out negative; that counts as 0.
// [any]
uint64_t ns_of_ticks(uint64_t ticks, double ns_per_tick);

class CounterClock {
 public:
  // Measures the counter for some milliseconds and makes HprofCalls use it. False: the counter is unusable,
  // and nothing has changed. Before the first go(). [control]
  bool open(const Services& services);
  bool is_open() const { return is_open_; }
  // The time by the clock that HprofCalls uses. [any]
  uint64_t now(const Services& services) const;
  // Nanoseconds in ticks of that clock, at least 1.
  uint64_t ticks_of(uint64_t ns) const;
  // Nanoseconds per tick, measured since open(). [control]
  double ns_per_tick(const Services& services) const { return rate_.now(services); }

 private:
  CounterRate rate_;
  int64_t nano_time_ = 0;  // System.nanoTime minus the system's clock
  bool is_open_ = false;
};

}  // namespace hprof::times
