// The state of a thread that was blocked on a monitor: what it does now, since when, and references for the
// dump.
//
// A pool of fixed places. A platform thread keeps its place until it ends, a virtual one until it is no
// longer blocked. Places are never unmapped before close, and have their owner's serial, by which a stale
// pointer is recognised.
//
// The owner writes everything except `lock`. The control thread reads meanwhile, through snapshot(), and the
// references under `lock`. The owner never waits for that lock: if it cannot get it, the old references stay
// until it can, and at the thread's end the control thread cleans up.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/lock.hpp>
#include <hprof/cpp/services.hpp>

namespace hprof::monitor {

enum class Doing : uint32_t { kNothing, kEntering, kWaiting };

struct BlockedThread {
  std::atomic<uint32_t> owner;  // thread serial; 0: free
  std::atomic<uint32_t> doing;  // Doing
  std::atomic<uint32_t> trace;
  std::atomic<uint32_t> monitor;  // class
  std::atomic<uint64_t> since;    // clock; distinct for each time the thread blocks
  Lock lock;                      // of the references; only ever tried by the owner
  std::atomic<uint32_t> left;     // the owner ended without deleting its references
  void* thread_ref;               // weak global references, nullptr: not kept
  void* object_ref;
  std::atomic<uint32_t> next_free;  // index + 1
  uint32_t index;
};
static_assert(sizeof(BlockedThread) <= 64, "a cache line each, more or less");

// What the control thread sees of a blocked thread at one moment.
struct BlockedNow {
  hprof_thread_serial thread;
  Doing doing;
  hprof_trace_serial trace;
  hprof_class_serial monitor;
  uint64_t since;
};

class BlockedThreads {
 public:
  static constexpr uint32_t kChunk = 1024;
  static constexpr uint32_t kChunks = 64;
  static constexpr uint32_t kMost = kChunk * kChunks;  // threads at a time

  // A place for that thread; nullptr: none left, or no memory. Lock-free. [app]
  BlockedThread* take(const Services& services, hprof_thread_serial thread);
  // The caller has deleted the references. [app][control]
  void give_back(BlockedThread* place);

  // Called by the owner: it blocks, and it continues. [app]
  static void begin(BlockedThread* place, Doing doing, uint64_t since, hprof_trace_serial trace,
                    hprof_class_serial monitor);
  static void end(BlockedThread* place) {
    place->doing.store(static_cast<uint32_t>(Doing::kNothing), std::memory_order_release);
  }

  // False: it is not blocked, or is just changing. [control]
  static bool snapshot(const BlockedThread& place, BlockedNow* now);

  // Calls visit(BlockedThread&) for every place with an owner. [control]
  template <class Visit>
  void each(Visit visit) {
    uint32_t end = used_.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < end && i < kMost; i++) {
      BlockedThread* place = at(i);
      if (place != nullptr && place->owner.load(std::memory_order_acquire) != 0) visit(*place);
    }
  }

  void close(const Services& services);  // no handler may run any more [control]

 private:
  BlockedThread* at(uint32_t index) {
    BlockedThread* chunk = chunks_[index / kChunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + index % kChunk;
  }
  BlockedThread* pop();
  BlockedThread* make(const Services& services);

  std::atomic<BlockedThread*> chunks_[kChunks] = {};
  std::atomic<uint32_t> used_{0};
  // Index + 1 of the first free place in the low half; the high half changes with every pop, so that a place
  // which was taken and given back meanwhile is not mistaken for one that stayed.
  std::atomic<uint64_t> free_{0};
};

}  // namespace hprof::monitor
