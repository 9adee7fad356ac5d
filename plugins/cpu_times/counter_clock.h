// clock=wall: the processor's time-stamp counter instead of System.nanoTime, where the operating system
// relies on it. The tracker reads it by a native method, a call and one unordered instruction, in less than
// half the time of System.nanoTime, which calls the C library. The length of a tick is measured.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>

namespace hprof::times {

// Both clocks at the same moment.
struct ClockPair {
  uint64_t ns;
  uint64_t ticks;
};

// Nanoseconds per tick between the first and the last of `count` pairs. 0: the counter is unusable, since it
// did not always advance or its rate was not steady. [any]
double steady_rate(const ClockPair* pairs, uint32_t count);

// A sum of ticks. The counter is read unordered, so a short time may come out negative; that counts as 0.
// [any]
uint64_t ns_of_ticks(uint64_t ticks, double ns_per_tick);

class CounterClock {
 public:
  // Measures the counter for some milliseconds and makes the tracker use it. False: the counter is unusable,
  // and nothing has changed. Before the first go(). [control]
  bool open(const Services& services);
  bool is_open() const { return is_open_; }
  // The time by the clock that the tracker uses. [any]
  uint64_t now(const Services& services) const;
  // Nanoseconds in ticks of that clock, at least 1.
  uint64_t ticks_of(uint64_t ns) const;
  // Nanoseconds per tick, measured since open(). [control]
  double ns_per_tick(const Services& services) const;

 private:
  ClockPair first_ = {};
  double first_rate_ = 0;
  int64_t nano_time_ = 0;  // System.nanoTime minus the system's clock
  bool is_open_ = false;
};

}  // namespace hprof::times
