// When a thread is due for a sample: once in each interval of its CPU time, at a moment drawn anew each time,
// so that no program can stay in step with it. The first interval begins at random, too, so that threads that
// use less than an interval are sampled in proportion to their CPU time.
//
// Lock-free: whoever advances SampledThread::due takes the samples.
#pragma once

#include <cstdint>

#include "sampled_threads.h"

namespace hprof::samples {

// A random time below the interval; the same for the same thread and seed. [any]
uint64_t draw(const SampledThread* entry, uint64_t seed, uint64_t interval_ns);
// Starts the thread's first interval at `cpu`. Returns the time until the thread is due. [app][control]
uint64_t begin_due(SampledThread* entry, uint64_t cpu, uint64_t interval_ns);
// Returns how many samples are due at `cpu`; *wait: time until the next, 0: none. [signal][app][control]
uint32_t take_due(SampledThread* entry, uint64_t cpu, uint64_t interval_ns, uint64_t* wait);
// The most CPU time, in nanoseconds, that the thread can have used since the last call: the elapsed time, and
// a little for clocks that move in steps. It limits what a wrong CPU clock can add. [signal][app][control]
uint64_t most_used(SampledThread* entry, uint64_t now_ns);

}  // namespace hprof::samples
