// The state of each allocating thread, found by its JNIEnv in a table that is read often and rarely written.
//
// When a thread ends, the next new thread takes its state and counts. Virtual threads use their carriers'.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/lock.hpp>

#include "count_log.h"
#include "known_stacks.h"
#include "live_records.h"
#include "site_table.h"

namespace hprof::sites {

// By site number.
using Counts = HashTable<Count, Growth::kLevels>;

struct AllocatingThread {
  // Read and written for each object, as the first members of `stacks` are.
  bool inside = false;   // in the agent's own code, whose allocations do not count
  bool asks = true;      // look up the serial: at first, and always on a carrier
  uint32_t serial = 0;   // thread=y: the thread that has the state, or had it last; 0: none
  Labels::Last labels;   // of the program's context, if any unit sets some
  void* bare = nullptr;  // weak reference to the last object of AllocObject, for a while
  CountLog log;
  FollowThread followed;
  StackThread stacks;

  Counts counts;
  uint32_t bare_left = 0;  // objects until `bare` is forgotten

  AllocatingThread* made_before = nullptr;  // next in the list of all states
  AllocatingThread* next_free = nullptr;
};

class AllocatingThreads {
 public:
  explicit AllocatingThreads(const KnownStacks& stacks) : stacks_(stacks) {}
  bool open(const Services& services);
  void close();
  // The state of the thread with that JNIEnv, taken or made if need be; null: no room. [app] that thread
  AllocatingThread* get(const void* env) {
    const auto* known = threads_.find(reinterpret_cast<uintptr_t>(env));
    AllocatingThread* thread = known != nullptr ? known->load(std::memory_order_relaxed) : nullptr;
    return thread != nullptr ? thread : take(env);
  }
  // Ends the thread with that JNIEnv: release(state&), then others may take the state. [app] that thread
  template <class Release>
  void end(const void* env, const Release& release) {
    std::atomic<AllocatingThread*>* entry = threads_.find(reinterpret_cast<uintptr_t>(env));
    AllocatingThread* thread = entry != nullptr ? entry->load(std::memory_order_relaxed) : nullptr;
    if (thread == nullptr) return;
    release(*thread);
    entry->store(nullptr, std::memory_order_relaxed);
    LockGuard guard(free_lock_, services_);
    thread->next_free = free_;
    free_ = thread;
  }
  // The thread's count of a site, a new one if need be; null: no memory. [app] that thread
  static Count* count_of(AllocatingThread* thread, uint32_t site);
  // Calls visit(thread&) for all states. [control]
  template <class Visit>
  void each(const Visit& visit) const {
    AllocatingThread* thread = last_made_.load(std::memory_order_acquire);
    for (; thread != nullptr; thread = thread->made_before) visit(*thread);
  }

 private:
  static constexpr uint64_t kFirstSlots = 1u << 10;
  static constexpr uint64_t kMostSlots = 1u << 16;
  static constexpr uint64_t kFirstCounts = 1u << 7;
  static constexpr uint64_t kMostCounts = 1u << 20;

  AllocatingThread* take(const void* env);
  AllocatingThread* take_free();
  AllocatingThread* make();

  Services services_;
  const KnownStacks& stacks_;
  HashTable<std::atomic<AllocatingThread*>, Growth::kLevels> threads_;
  std::atomic<AllocatingThread*> last_made_{nullptr};
  Lock free_lock_;
  AllocatingThread* free_ = nullptr;
};

}  // namespace hprof::sites
