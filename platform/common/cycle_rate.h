// CPU time out of the cycles that a system counts for each thread.
#pragma once

#include <cstdint>

namespace hprof::platform {

// One moment of a thread that does not wait.
struct CycleReading {
  int64_t clock_ns;  // of a clock that never goes back
  uint64_t counter;  // the processor's time-stamp counter, of one rate
  uint64_t cycles;   // that the system has counted for the thread
};

// Cycles in a second, by two readings. 0: they are too near to one another, or the system did not count what
// the counter does: the thread was interrupted, or cycles are something else.
inline uint64_t cycle_rate(const CycleReading& before, const CycleReading& after) {
  constexpr int64_t kLeastNs = 1000000;
  const int64_t elapsed = after.clock_ns - before.clock_ns;
  const uint64_t counted = after.counter - before.counter, cycles = after.cycles - before.cycles;
  if (elapsed < kLeastNs || counted > UINT64_MAX / 1000000000 || cycles > counted + counted / 64 ||
      cycles < counted - counted / 64)
    return 0;
  return counted * 1000000000 / static_cast<uint64_t>(elapsed);
}

// `rate` is not 0.
inline int64_t cycles_to_ns(uint64_t cycles, uint64_t rate) {
  // In two parts, as the product overflows within seconds.
  return static_cast<int64_t>(cycles / rate * 1000000000 + cycles % rate * 1000000000 / rate);
}

}  // namespace hprof::platform
