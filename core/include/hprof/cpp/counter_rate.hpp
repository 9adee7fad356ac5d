// SPDX-License-Identifier: Apache-2.0
// The rate of the processor's time-stamp counter (hprof_clock_service.counter), measured against the system's clock. A read
// of the counter takes less than half the time of a read of that clock.
#pragma once

#include <hprof/cpp/services.hpp>

namespace hprof {

// Both clocks at the same moment.
struct ClockPair {
  uint64_t ns;
  uint64_t ticks;
};

namespace counter_detail {

// The most that the rate of a part of the measurement may differ from that of the whole.
constexpr double kSteady = 0.02;
constexpr double kSlowestTick = 1000, kFastestTick = 0.02;  // nanoseconds
#ifdef __aarch64__
constexpr bool kIsTried = false;  // not tested on hardware
#else
constexpr bool kIsTried = true;
#endif

inline double rate(const ClockPair& from, const ClockPair& to) {
  if (to.ns <= from.ns || to.ticks <= from.ticks) return 0;
  return static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
}

// Reads the counter between two reads of the other clock; takes the fastest of a few tries.
inline ClockPair read_both(const Services& services) {
  ClockPair pair = {};
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < 16; i++) {
    uint64_t before = services.clock->monotonic(services.host);
    uint64_t ticks = services.clock->counter(services.host);
    uint64_t took = services.clock->monotonic(services.host) - before;
    if (took >= least) continue;
    least = took;
    pair = {before + took / 2, ticks};
  }
  return pair;
}

}  // namespace counter_detail

// Nanoseconds per tick between the first and the last of `count` pairs. 0: the counter is unusable, since it
// did not always advance or its rate was not steady. [any]
inline double steady_rate(const ClockPair* pairs, uint32_t count) {
  using namespace counter_detail;
  if (count < 2) return 0;
  double whole = rate(pairs[0], pairs[count - 1]);
  if (whole < kFastestTick || whole > kSlowestTick) return 0;
  for (uint32_t i = 1; i < count; i++) {
    double part = rate(pairs[i - 1], pairs[i]);
    if (part < whole * (1 - kSteady) || part > whole * (1 + kSteady)) return 0;
  }
  return whole;
}

class CounterRate {
 public:
  // Measures for some milliseconds. False: the counter is unusable, or not tried on this processor. [control]
  bool open(const Services& services) {
    constexpr uint32_t kPairs = 4;
    constexpr uint64_t kPairDistanceNs = 500'000;
    if (!counter_detail::kIsTried || !HPROF_HAS(services.clock, hprof_clock_service, counter)) return false;
    if (services.clock->counter(services.host) == 0) return false;
    ClockPair pairs[kPairs];
    for (uint32_t i = 0; i < kPairs; i++) {
      uint64_t begin = services.clock->monotonic(services.host);
      while (i != 0 && services.clock->monotonic(services.host) - begin < kPairDistanceNs) {
      }
      pairs[i] = counter_detail::read_both(services);
    }
    first_ = pairs[0];
    first_rate_ = steady_rate(pairs, kPairs);
    return first_rate_ != 0;
  }
  // Nanoseconds per tick, as open() has measured them. [any]
  double first() const { return first_rate_; }
  // The same, measured since open(). [control]
  double now(const Services& services) const {
    double whole = counter_detail::rate(first_, counter_detail::read_both(services));
    return whole != 0 ? whole : first_rate_;
  }

 private:
  ClockPair first_ = {};
  double first_rate_ = 0;
};

}  // namespace hprof
