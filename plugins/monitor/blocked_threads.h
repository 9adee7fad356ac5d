// The state of a thread that was blocked on a monitor: what it does now, since when, and references for the
// dump.
//
// A platform thread keeps its entry until it ends, a virtual one until it is no longer blocked. An entry has
// its owner's serial, which shows that an old pointer to it is stale.
//
// The owner writes everything except `lock`. The control thread reads meanwhile, through snapshot(), and the
// references under `lock`. The owner never waits for that lock: if it cannot get it, the old references stay
// until it can, and at the thread's end the control thread cleans up.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/entry_pool.hpp>
#include <hprof/cpp/lock.hpp>

namespace hprof::monitor {

enum class Doing : uint32_t { kNothing, kEntering, kWaiting };

struct BlockedThread : PooledEntry {
  std::atomic<uint32_t> owner;  // thread serial; 0: free
  std::atomic<uint32_t> doing;  // Doing
  std::atomic<uint32_t> trace;
  std::atomic<uint32_t> monitor;  // hprof_class_serial
  std::atomic<uint64_t> since;    // clock; distinct for each time the thread blocks
  Lock lock;                      // of the references; the owner only tries it
  std::atomic<uint32_t> left;     // the owner ended without deleting its references
  std::atomic<uint32_t> hash;     // of the monitor, MonitorEvents::hash_of
  // Entering: the thread that held the monitor, 0: not known; waiting: the timeout in ms, 0: none.
  std::atomic<uint32_t> detail;
  std::atomic<uint32_t> entered;  // entering: MonitorEvents::last_entered when the thread blocked
  void* thread_ref;               // weak global references; nullptr: none
  void* object_ref;
};
static_assert(sizeof(BlockedThread) <= 72, "a cache line each, more or less");

// A blocked thread as the control thread reads it.
struct BlockedNow {
  hprof_thread_serial thread;
  Doing doing;
  hprof_trace_serial trace;
  hprof_class_serial monitor;
  uint64_t since;
};

class BlockedThreads {
 public:
  // Takes an entry for the thread; nullptr: none left, or no memory. Lock-free. [app]
  BlockedThread* take(const Services& services, hprof_thread_serial thread);
  // The caller has deleted the references. [app][control]
  void give_back(BlockedThread* entry);

  // The owner blocks, and it continues. [app] the owner
  static void begin(BlockedThread* entry, Doing doing, uint64_t since, hprof_trace_serial trace,
                    hprof_class_serial monitor);
  static void end(BlockedThread* entry) {
    entry->doing.store(static_cast<uint32_t>(Doing::kNothing), std::memory_order_release);
  }

  // False: the thread is not blocked, or is just changing its state. [control]
  static bool snapshot(const BlockedThread& entry, BlockedNow* now);

  // Calls visit(BlockedThread&) for every entry with an owner. [control]
  template <class Visit>
  void each(const Visit& visit) {
    entries_.each([&](BlockedThread& entry) {
      if (entry.owner.load(std::memory_order_acquire) != 0) visit(entry);
    });
  }

  void close(const Services& services) { entries_.close(services); }  // no handler may run any more [control]

 private:
  EntryPool<BlockedThread, 6, 11> entries_;
};

}  // namespace hprof::monitor
