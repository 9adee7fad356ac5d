// Numbers of label sets: what Context.label returns and Context.set takes.
//
// A number holds a slot of a hash table and the number of the session, since the program may keep it longer
// than the session's strings last. The table is static for the same reason; no lock. Entries are added only,
// until the next session begins.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/abi.h>

namespace hprof::context {

class LabelSets {
 public:
  static constexpr uint32_t kMost = 65535;
  static constexpr uint32_t kSlotBits = 17;  // of a number; the session's number is above them

  // Forgets all; numbers given out before stand for nothing. [control]
  void begin();
  // The number of a set; 0: there are `most` others, or `text` is 0. [app]
  uint32_t number_of(hprof_string_id text, uint32_t most);
  // The text of a set; 0: none. [any]
  hprof_string_id text_of(uint32_t number) const {
    const uint32_t session = session_.load(std::memory_order_acquire);
    return number >> kSlotBits == session ? texts_[number & (kSlots - 1)].load(std::memory_order_relaxed) : 0;
  }
  // For those who look a text up themselves, as text_of does. [control]
  const void* texts() const { return texts_; }
  uint32_t session() const { return session_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kSlots = 1u << kSlotBits;
  static constexpr uint32_t kSessions = 1u << (31 - kSlotBits);  // numbers are positive

  std::atomic<uint32_t> texts_[kSlots] = {};
  std::atomic<uint32_t> session_{0}, count_{0};
};

}  // namespace hprof::context
