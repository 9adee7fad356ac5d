// SPDX-License-Identifier: Apache-2.0
// The resolution of the system's CPU clocks.
#pragma once

#include <hprof/cpp/services.hpp>

namespace hprof {

// A CPU clock with longer steps is coarse: it cannot measure shorter times.
constexpr uint64_t kCoarseStepNs = 1'000'000;

// The step of the calling thread's CPU clock in nanoseconds: less than 1000 on Linux, 10 to 16 ms on Windows
// (GetThreadTimes). Spins until the clock has moved twice; 0: there is no such clock, or it did not move within half a
// second (a busy machine). [control]
inline uint64_t cpu_clock_step(const Services& services) {
  constexpr uint32_t kMostReads = 2'000'000;
  constexpr uint64_t kMostNs = 500'000'000;
  const hprof_clock_service& clock = *services.clock;
  const uint64_t from = clock.monotonic(services.host);
  uint64_t seen = clock.thread_cpu(services.host, 0);
  bool has_moved = false;
  for (uint32_t i = 0; seen != UINT64_MAX && i < kMostReads && clock.monotonic(services.host) - from < kMostNs; i++) {
    const uint64_t now = clock.thread_cpu(services.host, 0);
    if (now == seen) continue;
    if (has_moved) return now - seen;
    has_moved = true;
    seen = now;
  }
  return 0;
}

}  // namespace hprof
