// Places for threads that are blocked on monitors.
#include "plugins/monitor/blocked_threads.h"

namespace hprof::monitor {

BlockedThread* BlockedThreads::pop() {
  uint64_t head = free_.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(head) != 0) {
    BlockedThread* place = at(static_cast<uint32_t>(head) - 1);
    // Another pop may have taken the place, and next_free be of another list by now; then the exchange fails.
    uint64_t next = ((head >> 32) + 1) << 32 | place->next_free.load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(head, next, std::memory_order_acq_rel)) return place;
  }
  return nullptr;
}

BlockedThread* BlockedThreads::make(const Services& services) {
  uint32_t index = used_.load(std::memory_order_relaxed);
  do {
    if (index >= kMost) return nullptr;
    std::atomic<BlockedThread*>& chunk = chunks_[index / kChunk];
    if (chunk.load(std::memory_order_acquire) != nullptr) continue;
    BlockedThread* fresh = services.allocate<BlockedThread>(kChunk);
    if (fresh == nullptr) return nullptr;
    BlockedThread* none = nullptr;
    if (!chunk.compare_exchange_strong(none, fresh, std::memory_order_acq_rel)) {
      services.release(fresh, kChunk);
    }
  } while (!used_.compare_exchange_weak(index, index + 1, std::memory_order_acq_rel));
  BlockedThread* place = at(index);
  place->index = index;
  return place;
}

BlockedThread* BlockedThreads::take(const Services& services, hprof_thread_serial thread) {
  BlockedThread* place = pop();
  if (place == nullptr) place = make(services);
  if (place == nullptr) return nullptr;
  end(place);
  place->owner.store(thread, std::memory_order_release);
  return place;
}

void BlockedThreads::give_back(BlockedThread* place) {
  end(place);
  place->left.store(0, std::memory_order_relaxed);
  place->owner.store(0, std::memory_order_release);
  uint64_t head = free_.load(std::memory_order_relaxed), with_place;
  do {
    place->next_free.store(static_cast<uint32_t>(head), std::memory_order_relaxed);
    with_place = (head & 0xffffffff00000000ull) | (place->index + 1);
  } while (!free_.compare_exchange_weak(head, with_place, std::memory_order_acq_rel));
}

// `doing` is stored last and cleared first: a reader that sees it set before and after, with the same
// `since`, has consistent values, since `since` differs each time.
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

void BlockedThreads::close(const Services& services) {
  for (auto& chunk : chunks_) {
    services.release(chunk.load(std::memory_order_relaxed), kChunk);
    chunk.store(nullptr, std::memory_order_relaxed);
  }
  used_.store(0, std::memory_order_relaxed);
  free_.store(0, std::memory_order_relaxed);
}

}  // namespace hprof::monitor
