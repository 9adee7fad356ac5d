// When a thread is due for a sample: once in each interval of its CPU time, at a moment drawn anew each time,
// so that no program's rhythm stays in step with it. The intervals begin at random, too: so also of threads
// that use less than one, as many are sampled as their CPU time is worth.
//
// In a place: cpu_seen is the moment (of the thread's CPU clock) that is due next, cpu_open where the second
// of its intervals began. Lock-free: whoever moves cpu_seen on has the samples.
#pragma once

#include <cstdint>

#include "plugins/cpu_samples/sampled_threads.h"

namespace hprof::samples {

// At random, less than the interval: the same for the same thread and seed. [any]
uint64_t draw(const SampledThread* place, uint64_t seed, uint64_t interval_ns);
// From now on. Answers how long the thread is not due for. [app][control]
uint64_t begin_due(SampledThread* place, uint64_t cpu, uint64_t interval_ns);
// How many samples are due at `cpu`; *wait: until the next one is, 0: nothing will be. [signal][app][control]
uint32_t take_due(SampledThread* place, uint64_t cpu, uint64_t interval_ns, uint64_t* wait);

}  // namespace hprof::samples
