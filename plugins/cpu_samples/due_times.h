// When a thread is due for a sample: once in each interval of its CPU time, at a moment drawn anew each time,
// so that no program can stay in step with it. The first interval begins at random, too, so that threads that
// use less than an interval are sampled in proportion to their CPU time.
//
// In a place, cpu_seen is the next due moment (by the thread's CPU clock), and cpu_open the beginning of its
// second interval. Lock-free: the thread that advances cpu_seen takes the samples.
#pragma once

#include <cstdint>

#include "sampled_threads.h"

namespace hprof::samples {

// Random, less than the interval; the same for the same thread and seed. [any]
uint64_t draw(const SampledThread* place, uint64_t seed, uint64_t interval_ns);
// Starts now. Returns the time until the thread is due. [app][control]
uint64_t begin_due(SampledThread* place, uint64_t cpu, uint64_t interval_ns);
// How many samples are due at `cpu`; *wait: the time until the next one, 0: there is none.
// [signal][app][control]
uint32_t take_due(SampledThread* place, uint64_t cpu, uint64_t interval_ns, uint64_t* wait);
// The most CPU time, in nanoseconds, that the thread can have used since the last call: what has passed since
// then, and a little for clocks that move in steps. Whatever its CPU clock says, no look counts for more.
// [signal][app][control]
uint64_t most_used(SampledThread* place, uint64_t now_ns);

}  // namespace hprof::samples
