#include "blocked_threads.h"

namespace hprof::monitor {

BlockedThread* BlockedThreads::take(const Services& services, hprof_thread_serial thread) {
  BlockedThread* entry = entries_.take(services);
  if (entry != nullptr) entry->owner.store(thread, std::memory_order_release);
  return entry;
}

void BlockedThreads::give_back(BlockedThread* entry) {
  end(entry);
  entry->left.store(0, std::memory_order_relaxed);
  entry->owner.store(0, std::memory_order_release);
  entries_.give_back(entry);
}

// `doing` is stored last and cleared first, and `since` differs each time: a reader that sees `doing` set
// before and after, with the same `since`, has consistent values.
void BlockedThreads::begin(BlockedThread* entry, Doing doing, uint64_t since, hprof_trace_serial trace,
                           hprof_class_serial monitor) {
  entry->doing.store(static_cast<uint32_t>(Doing::kNothing), std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  entry->trace.store(trace, std::memory_order_relaxed);
  entry->monitor.store(monitor, std::memory_order_relaxed);
  entry->since.store(since, std::memory_order_relaxed);
  entry->doing.store(static_cast<uint32_t>(doing), std::memory_order_release);
}

bool BlockedThreads::snapshot(const BlockedThread& entry, BlockedNow* now) {
  now->thread = entry.owner.load(std::memory_order_acquire);
  uint32_t doing = entry.doing.load(std::memory_order_acquire);
  now->doing = static_cast<Doing>(doing);
  uint64_t since = entry.since.load(std::memory_order_relaxed);
  now->since = since;
  now->trace = entry.trace.load(std::memory_order_relaxed);
  now->monitor = entry.monitor.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  return now->thread != 0 && now->doing != Doing::kNothing &&
         entry.doing.load(std::memory_order_relaxed) == doing &&
         entry.since.load(std::memory_order_relaxed) == since &&
         entry.owner.load(std::memory_order_relaxed) == now->thread;
}

}  // namespace hprof::monitor
