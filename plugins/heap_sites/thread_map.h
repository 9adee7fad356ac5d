// The state of a thread, by its JNIEnv: one look at a table that all threads read and few write.
//
// The VM gives an environment's address to a later thread when its own has ended; the state then goes on with
// it. Virtual threads use their carriers'.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/services.hpp>

#include "plugins/heap_sites/frame_walk.h"
#include "plugins/heap_sites/live_records.h"
#include "plugins/heap_sites/thread_table.h"

namespace hprof::sites {

// Why the VM was asked for a stack.
enum Asked : uint32_t { kAskedNew, kAskedProof, kAskedUnknown, kAskedVmObject, kAskedReasons };

// What the agent has to do in a native method that is called by a class of the JDK's.
enum class Errand : uint8_t { kNone, kLearnFrame, kReplaceNatives };

struct ThreadState {
  RecentTable recent;
  Counts counts;
  CodeCache* code = nullptr;           // once it has allocated enough
  LiveChunk* open = nullptr;           // being filled; the reaper reads it
  uint32_t serial = 0;                 // thread=y: the thread it belongs to, or belonged to last; 0: none
  bool asks = true;                    // ... which is to be asked for: at first, and always on a carrier
  uint32_t walks = 0;                  // stacks that were known
  uint32_t until_cache = 0;            // walks without `code`
  uint64_t asked[kAskedReasons] = {};  // stacks that the VM was asked for
  Errand errand = Errand::kNone;       // what the agent calls a probe itself for
  void* bare = nullptr;                // weak reference to AllocObject's last object, for a while
  uint32_t bare_left = 0;              // objects until it is forgotten
  bool inside = false;                 // the agent's own work allocates nothing that is counted
  ThreadState* next = nullptr;         // of all
};

class ThreadMap {
 public:
  static constexpr uint32_t kRoom = 1u << 16;  // less with little memory
  static constexpr uint32_t kLeastRoom = 1u << 8;
  static constexpr uint32_t kMostProbes = 128;

  bool open(const Services& services);
  void close();
  // The state of the thread with that environment, made if need be; null: no room. [app] that thread
  ThreadState* get(const void* env) {
    uint64_t at = place(env);
    if (slots_[at].env.load(std::memory_order_acquire) == env) {
      ThreadState* state = slots_[at].state.load(std::memory_order_relaxed);
      if (state != nullptr) return state;
    }
    return search(env, at);
  }
  ThreadState* first() const { return first_.load(std::memory_order_acquire); }

 private:
  struct Slot {
    std::atomic<const void*> env;
    std::atomic<ThreadState*> state;
  };
  uint64_t place(const void* env) const {
    return reinterpret_cast<uintptr_t>(env) * 0x9e3779b97f4a7c15ull >> 40 & (room_ - 1);
  }
  ThreadState* search(const void* env, uint64_t at);
  ThreadState* make();

  Services services_;
  Slot* slots_ = nullptr;
  uint64_t room_ = 0;
  std::atomic<ThreadState*> first_{nullptr};
};

}  // namespace hprof::sites
