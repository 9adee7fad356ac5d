// When a thread is due for a sample.
#include "due_times.h"

namespace hprof::samples {

// The finalizer of splitmix64.
uint64_t draw(const SampledThread* entry, uint64_t seed, uint64_t interval_ns) {
  uint64_t x = seed + reinterpret_cast<uintptr_t>(entry) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return (x ^ (x >> 31)) % interval_ns;
}

// Both are moments in the current interval. The first may have passed if the interval has begun already.
uint64_t begin_due(SampledThread* entry, uint64_t cpu, uint64_t interval_ns) {
  const uint64_t passed = draw(entry, cpu, interval_ns), drawn = draw(entry, ~cpu, interval_ns);
  const uint64_t second = cpu - passed + interval_ns;
  const uint64_t wait = drawn > passed ? drawn - passed : second - cpu + draw(entry, second, interval_ns);
  entry->second_interval.store(second, std::memory_order_relaxed);
  entry->due.store(cpu + wait, std::memory_order_relaxed);
  return wait;
}

uint32_t take_due(SampledThread* entry, uint64_t cpu, uint64_t interval_ns, uint64_t* wait) {
  const uint64_t second = entry->second_interval.load(std::memory_order_relaxed);
  uint64_t due = entry->due.load(std::memory_order_relaxed), ticks, next;
  do {
    *wait = due != SampledThreads::kNeverDue && cpu < due ? due - cpu : 0;
    if (cpu < due) return 0;
    // Counts the samples of the whole intervals, then that of the current one.
    uint64_t end = due < second ? second : due + interval_ns - (due - second) % interval_ns;
    ticks = 1;
    if (cpu >= end) {
      ticks += (cpu - end) / interval_ns;
      end = cpu - (cpu - end) % interval_ns;
    }
    next = end + draw(entry, end, interval_ns);
    if (next <= cpu) {
      ticks++;
      next = end + interval_ns + draw(entry, end + interval_ns, interval_ns);
    }
  } while (!entry->due.compare_exchange_weak(due, next, std::memory_order_relaxed));
  *wait = next - cpu;
  return ticks < UINT32_MAX ? static_cast<uint32_t>(ticks) : UINT32_MAX;
}

uint64_t most_used(SampledThread* entry, uint64_t now_ns) {
  constexpr uint64_t kStepNs = 100'000'000;
  const uint64_t before = entry->read_ns.exchange(now_ns, std::memory_order_relaxed);
  return (now_ns > before ? now_ns - before : 0) + kStepNs;
}

}  // namespace hprof::samples
