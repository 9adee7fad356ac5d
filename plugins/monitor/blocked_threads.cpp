#include "blocked_threads.h"

namespace hprof::monitor {

BlockedThread* BlockedThreads::take(const Services& services, hprof_thread_serial thread) {
  BlockedThread* place = places_.take(services);
  if (place != nullptr) place->owner.store(thread, std::memory_order_release);
  return place;
}

void BlockedThreads::give_back(BlockedThread* place) {
  end(place);
  place->left.store(0, std::memory_order_relaxed);
  place->owner.store(0, std::memory_order_release);
  places_.give_back(place);
}

// `doing` is stored last and cleared first, and `since` differs each time: a reader that sees `doing` set
// before and after, with the same `since`, has consistent values.
void BlockedThreads::begin(BlockedThread* place, Doing doing, uint64_t since, hprof_trace_serial trace,
                           hprof_class_serial monitor) {
  place->doing.store(static_cast<uint32_t>(Doing::kNothing), std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  place->trace.store(trace, std::memory_order_relaxed);
  place->monitor.store(monitor, std::memory_order_relaxed);
  place->since.store(since, std::memory_order_relaxed);
  place->doing.store(static_cast<uint32_t>(doing), std::memory_order_release);
}

bool BlockedThreads::snapshot(const BlockedThread& place, BlockedNow* now) {
  now->thread = place.owner.load(std::memory_order_acquire);
  uint32_t doing = place.doing.load(std::memory_order_acquire);
  now->doing = static_cast<Doing>(doing);
  uint64_t since = place.since.load(std::memory_order_relaxed);
  now->since = since;
  now->trace = place.trace.load(std::memory_order_relaxed);
  now->monitor = place.monitor.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  return now->thread != 0 && now->doing != Doing::kNothing &&
         place.doing.load(std::memory_order_relaxed) == doing &&
         place.since.load(std::memory_order_relaxed) == since &&
         place.owner.load(std::memory_order_relaxed) == now->thread;
}

}  // namespace hprof::monitor
