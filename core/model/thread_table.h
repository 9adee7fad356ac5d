// The threads of the application: live ones, and those that ended not long ago.
#pragma once

#include <atomic>

#include <hprof/collector.h>

#include "core/base/region.h"
#include "core/model/ids.h"

namespace hprof {

// The attributes of a new thread.
struct ThreadFacts {
  StringId name = StringId::kNone;  // of Model::thread_name, which bounds how many different ones there are
  StringId group = StringId::kNone;
  StringId parent_group = StringId::kNone;
  uint32_t flags = 0;  // HPROF_THREAD_*
  uint64_t java_id = 0, os_id = 0;
};

// Serials are given once and never again. The table remembers `capacity` threads: all that live, and the
// others until their slot is needed. Memory is bounded by that; names are strings and bounded by
// Model::thread_name.
//
// The slot of a serial is number serial % capacity: a ring. A new thread takes the next serial whose slot is
// not a live thread's; serials over live threads are skipped. So a thread that ended is remembered until at
// least (capacity - live threads) more have been seen, which is what records that still wait to be written
// need. If the budget is used up before the room, the ring ends there. When live threads have seven eighths
// of the slots, all new ones become one "other thread" (the caller counts the loss), with a serial of its
// own, no name and no object.
//
// Protocol of a slot. `state` says who may write: a thread that moves it from kFree or kEnded to kClaimed
// owns the slot. It stores serial = 0, then the facts, then the serial (release), then kAlive. The
// facts are written and copied word by word, each store a release and each load an acquire: a reader that
// sees one word of a new owner also sees that the serial has changed, and answers "forgotten". Setters are
// for the thread's own event handlers or for one thread at a time, while it lives.
class ThreadTable {
 public:
  constexpr ThreadTable() = default;

  // The last serial that is given; formats add a base to serials.
  static constexpr uint32_t kLast = 0xfff00000u;

  // capacity: at least 16, rounded down to a power of two. [onload]
  bool create(MemoryAccount& memory, uint32_t capacity, Backing backing);
  void destroy();  // [control]

  // Never kNone. *folded: no slot, so this is the "other thread". Lock-free. [onload][control][app]
  ThreadSerial add(const ThreadFacts& facts, bool* folded);
  // True: the serial stands for all threads without a slot, and has no start or end. [any]
  bool is_other(ThreadSerial serial) const {
    return serial != ThreadSerial::kNone && raw(serial) == other_.load(std::memory_order_acquire);
  }
  // Does nothing for a thread that is not alive or not known, and for the other thread. [app][control]
  void end(ThreadSerial serial);

  void set_object(ThreadSerial serial, hprof_object_id object);  // [app][control]
  // True: a thread that is alive had another name. [app][control]
  bool set_name(ThreadSerial serial, StringId name);

  // Copies a consistent state. False: never in use, or forgotten. Wait-free. [any]
  bool get(ThreadSerial serial, ThreadInfo* info) const;

  uint32_t alive() const { return alive_.load(std::memory_order_relaxed); }
  static uint64_t room(uint32_t capacity) { return uint64_t{capacity} * sizeof(Slot); }

 private:
  enum State : uint32_t { kFree, kClaimed, kAlive, kEnded };
  struct alignas(8) Slot {
    std::atomic<uint32_t> serial;
    std::atomic<uint32_t> state;
    ThreadInfo info;
  };

  Slot* slots() const { return reinterpret_cast<Slot*>(region_.base()); }
  Slot* slot_of(ThreadSerial serial) const;
  Slot* claim(uint32_t* serial);
  static void write(Slot& slot, const ThreadFacts& facts, uint32_t serial);
  bool begin_next_lap(uint64_t passed);
  ThreadSerial other();

  Region region_;
  uint32_t capacity_ = 0;
  std::atomic<uint32_t> alive_{0};
  std::atomic<uint64_t> next_{1};   // the next serial to try
  std::atomic<uint32_t> other_{0};  // serial of the other thread, taken at first use
};

}  // namespace hprof
