// times=clock: the processor's counter in place of System.nanoTime, where the operating system itself goes by
// it. The tracker reads it by a native method of ours: a call and one instruction, which does not wait for
// what the processor has begun, take less than half of the time of System.nanoTime, whose compiled form asks
// the C library. It has to be measured how long a tick is.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>

namespace hprof::times {

// Both clocks at one moment.
struct ClockPair {
  uint64_t ns;
  uint64_t ticks;
};

// Nanoseconds of a tick between the first and the last of `count` pairs. 0: the counter is not fit, it did
// not always advance or its rate was not steady. [any]
double steady_rate(const ClockPair* pairs, uint32_t count);

// A sum of ticks. The counter is read without order, so a short time may come out below 0; it is none then.
// [any]
uint64_t ns_of_ticks(uint64_t ticks, double ns_per_tick);

class CounterClock {
 public:
  // Tries the counter for some milliseconds and has the tracker use it. False: there is none, or none that is
  // fit; the tracker goes on as it is. Before the first go(). [control]
  bool open(const Services& services);
  bool is_open() const { return is_open_; }
  // Over all the time since open(). [control]
  double ns_per_tick(const Services& services) const;

 private:
  ClockPair first_ = {};
  double first_rate_ = 0;
  bool is_open_ = false;
};

}  // namespace hprof::times
