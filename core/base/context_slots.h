// Contexts by a key that is never 0. A fixed number of slots; no lock.
//
// Protocol: a thread claims one of the kProbes slots from the key's hash on by a CAS of `owner` (0 -> key),
// and only one thread at a time writes there, until it sets `owner` to 0 again. `sequence` is odd while it
// writes. Readers are signal handlers of that thread, or other threads: they drop what they have read if
// `sequence` is odd or has changed. A slot that is not in use has zeros, but for `reach`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hprof/service/context.h>

namespace hprof {

template <class Key>
struct ContextSlot {
  static constexpr uint32_t kWords = sizeof(hprof_context) / sizeof(Key);
  std::atomic<Key> owner;
  std::atomic<uint32_t> sequence;
  std::atomic<Key> words[kWords];
};

// plugins/context/java/HprofContext.java writes such slots, too, while they have 48 bytes.
template <>
struct ContextSlot<uint64_t> {
  static constexpr uint32_t kWords = sizeof(hprof_context) / sizeof(uint64_t);
  std::atomic<uint64_t> owner;
  std::atomic<uint32_t> sequence;
  std::atomic<uint32_t> reach;  // the most slots that keys whose hash leads here went further; never less
  std::atomic<uint64_t> words[kWords];
};

// Key: uint32_t where atomics of 64 bits would need a library.
template <class Key>
class ContextSlots {
 public:
  using Slot = ContextSlot<Key>;
  static constexpr uint32_t kWords = Slot::kWords;

  // count: a power of two. slots: that many, zeroed. [onload][control]
  void use(Slot* slots, uint32_t count) {
    count_ = count;
    slots_ = slots;
  }
  bool is_open() const { return slots_ != nullptr; }  // [any]
  uint32_t count() const { return count_; }           // [any]

  // False: there is no slot. [app] the thread that the key stands for
  bool set(Key key, const hprof_context& context) {
    Slot* slot = find(key, key);
    while (slot == nullptr) {
      Key none = 0;
      slot = find(key, 0);
      if (slot == nullptr) return false;
      if constexpr (kKeepsReach) extend_reach(key, slot);
      if (!slot->owner.compare_exchange_strong(none, key, std::memory_order_acq_rel)) slot = nullptr;
    }
    write(slot, context);
    return true;
  }
  // The key has no context any more. [app] likewise
  void clear(Key key) {
    Slot* slot = find(key, key);
    if (slot == nullptr) return;
    write(slot, {});
    slot->owner.store(0, std::memory_order_release);
  }
  // False: it has none, or it is being written. [any]
  bool read(Key key, hprof_context* context) const {
    const Slot* slot = find(key, key);
    if (slot == nullptr) return false;
    const uint32_t sequence = slot->sequence.load(std::memory_order_acquire);
    Key words[kWords];
    for (uint32_t i = 0; i < kWords; i++) words[i] = slot->words[i].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    memcpy(context, words, sizeof(words));
    // Another thread may have the slot by now.
    return context->size != 0 && sequence % 2 == 0 &&
           slot->sequence.load(std::memory_order_relaxed) == sequence &&
           slot->owner.load(std::memory_order_relaxed) == key;
  }
  // The labels in it; 0: none. [app] the thread that the key stands for, which alone writes there
  hprof_string_id labels(Key key) const {
    constexpr size_t kAt = offsetof(hprof_context, labels);
    const Slot* slot = find(key, key);
    if (slot == nullptr) return 0;
    const Key word = slot->words[kAt / sizeof(Key)].load(std::memory_order_relaxed);
    hprof_string_id labels;
    memcpy(&labels, reinterpret_cast<const char*>(&word) + kAt % sizeof(Key), sizeof labels);
    return labels;
  }
  // Frees all slots, except that threads which are writing may keep theirs. [control]
  void forget() {
    for (uint32_t i = 0; i < count_; i++) {
      if (slots_[i].owner.load(std::memory_order_relaxed) != 0)
        slots_[i].owner.store(0, std::memory_order_release);
    }
  }

 protected:
  static constexpr uint32_t kProbes = 8;
  static constexpr bool kKeepsReach = sizeof(Key) == sizeof(uint64_t);  // where it fills a hole in the slot

  static uint32_t start_of(Key key) {
    return static_cast<uint32_t>(uint64_t{key} * 0x9e3779b97f4a7c15u >> 40);
  }
  Slot* at(uint32_t i) const { return &slots_[i & (count_ - 1)]; }
  // The first slot of the key that has that owner; nullptr: none.
  Slot* find(Key key, Key owner) const {
    const uint32_t start = start_of(key);
    uint32_t probes = slots_ != nullptr && key != 0 ? kProbes : 0;
    if constexpr (kKeepsReach) {
      if (probes != 0 && owner == key) probes = 1 + at(start)->reach.load(std::memory_order_relaxed);
    }
    for (uint32_t i = 0; i < probes; i++) {
      Slot* slot = at(start + i);
      if (slot->owner.load(std::memory_order_acquire) == owner) return slot;
    }
    return nullptr;
  }
  // Before the key claims the slot.
  void extend_reach(Key key, const Slot* slot) {
    const uint32_t start = start_of(key);
    const uint32_t distance = (static_cast<uint32_t>(slot - slots_) - start) & (count_ - 1);
    std::atomic<uint32_t>& reach = at(start)->reach;
    uint32_t known = reach.load(std::memory_order_relaxed);
    while (known < distance && !reach.compare_exchange_weak(known, distance, std::memory_order_relaxed)) {
    }
  }
  static void write(Slot* slot, const hprof_context& context) {
    Key words[kWords];
    memcpy(words, &context, sizeof(words));
    const uint32_t sequence = slot->sequence.load(std::memory_order_relaxed) | 1;
    slot->sequence.store(sequence, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (uint32_t i = 0; i < kWords; i++) slot->words[i].store(words[i], std::memory_order_relaxed);
    slot->sequence.store(sequence + 1, std::memory_order_release);
  }

  Slot* slots_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace hprof
