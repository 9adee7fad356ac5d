// The threads that allocate, by their JNIEnv: one look-up in a table that all threads read and few write.
//
// The VM reuses an environment's address for a later thread after its own has ended; that thread then
// continues the state. Virtual threads use their carriers'.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/hash_table.hpp>

#include "plugins/heap_sites/frame_names.h"
#include "plugins/heap_sites/live_records.h"
#include "plugins/heap_sites/recent_table.h"

namespace hprof::sites {

// Why the VM was asked for a stack.
enum Asked : uint32_t { kAskedNew, kAskedProof, kAskedUnknown, kAskedVmObject, kAskedReasons };

// Work for the agent in a native method called by a class of the JDK.
enum class Errand : uint8_t { kNone, kHideFrame, kReplaceNatives };

// By site number.
using Counts = HashTable<Count, Growth::kLevels>;

struct AllocatingThread {
  // Used for each object.
  bool inside = false;            // in the agent's own work, whose allocations do not count
  bool asks = true;               // serial is to be looked up: at first, and always on a carrier
  Errand errand = Errand::kNone;  // what the agent calls a probe itself for
  uint32_t serial = 0;            // thread=y: the thread it belongs to, or belonged to last; 0: none
  uint32_t until_proof = 0;       // known stacks until one is compared with the VM's
  uint32_t early_walks = 0;       // the first walks, after which it gets the memory of `walk`
  hprof_walk_thread walk = {};
  void* bare = nullptr;       // weak reference to AllocObject's last object, for a while
  LiveChunk* open = nullptr;  // being filled; the reaper reads it
  hprof_weak_thread weak = {};

  RecentTable recent;
  FrameNames names;
  uint32_t composed = 0;  // new stacks whose frames were all known
  Counts counts;
  uint64_t asked[kAskedReasons] = {};  // stacks that the VM was asked for
  uint32_t bare_left = 0;              // objects until it is forgotten
};

class AllocatingThreads {
 public:
  bool open(const Services& services);
  void close();
  // The state of the thread with that environment, made if need be; null: no room. [app] that thread
  AllocatingThread* get(const void* env) {
    const auto* known = threads_.find(reinterpret_cast<uintptr_t>(env));
    AllocatingThread* thread = known != nullptr ? known->load(std::memory_order_relaxed) : nullptr;
    return thread != nullptr ? thread : make(env);
  }
  // The count of a site, made if it is new; null: no memory. [app] that thread
  static Count* count_of(AllocatingThread* thread, uint32_t site);
  // Calls visit(thread&) for all of them. [control]
  template <class Visit>
  void each(const Visit& visit) const {
    threads_.each([&](uint64_t, const std::atomic<AllocatingThread*>& place) {
      AllocatingThread* thread = place.load(std::memory_order_acquire);
      if (thread != nullptr) visit(*thread);
    });
  }

 private:
  static constexpr uint64_t kFirstSlots = 1u << 10;
  static constexpr uint64_t kMostSlots = 1u << 16;
  static constexpr uint64_t kFirstCounts = 1u << 7;
  static constexpr uint64_t kMostCounts = 1u << 20;

  AllocatingThread* make(const void* env);

  Services services_;
  HashTable<std::atomic<AllocatingThread*>, Growth::kLevels> threads_;
};

}  // namespace hprof::sites
