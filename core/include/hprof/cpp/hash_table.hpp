// SPDX-License-Identifier: Apache-2.0
// The hash table of units: open addressing, insert-only, keys of 64 bits of which 0 is none.
//
// An entry is in one of the first slots from the one that its hash selects; a taken slot never becomes free again, so a
// free slot ends a search. Protocol of the tables that threads share: a thread takes a free slot by writing its key
// with compare-and-swap; the value beside it is zero at first and made of atomics, which any thread that finds the
// entry may change from then on. A key whose slots are all taken goes into the next level, if there is one. Slots are
// tried in one order by all threads, so a key has exactly one. Nobody waits, nothing is locked.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hprof/cpp/services.hpp>

namespace hprof {

// Mixes a word into a hash; the upper bits are the best mixed.
inline uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 32;
}

// Mixes several words into a hash, such as the frames of a trace.
inline uint64_t mix(uint64_t hash, const uint32_t* words, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) hash = mix(hash, words[i]);
  return hash;
}

// How a full table grows.
enum class Growth : uint32_t {
  kNone,    // not at all. Any thread adds
  kLevels,  // by another level of slots, four times as large as the last; entries stay where they are. Any thread adds
  kMoves,   // by a move to twice as many slots when three quarters are taken. One thread at a time uses it
};

// The most entries of `bytes` each, a power of two from `fewest` to `most`, that take no more than 1/share of
// max-memory=.
inline uint64_t entries_in_budget(const Services& services, uint64_t bytes, uint64_t fewest, uint64_t most,
                                  uint64_t share) {
  const uint64_t budget = services.settings().max_memory;
  while (budget != 0 && most > fewest && most * bytes > budget / share) most /= 2;
  return most;
}

// Value: a type for which zeroed memory is valid. With kMoves it is copied as bytes.
template <class Value, Growth kGrowth>
class HashTable {
 public:
  // first, most: slots at the start and at most (kLevels: in the last level), powers of two; kNone has `most` at once.
  // False: no memory.
  // [onload][control][app]
  bool open(const UnitMemory& memory, uint64_t first, uint64_t most) {
    memory_ = memory;
    first_bits_ = bits_of(kGrowth == Growth::kNone ? most : first);
    most_bits_ = bits_of(most);
    return add_level(0) != nullptr;
  }
  // Frees the memory; open() may follow. No other thread uses the table any more. [control]
  void close() {
    for (uint32_t level = 0; level < kLevelCount; level++) {
      memory_.release(levels_[level].load(std::memory_order_relaxed), uint64_t{1} << bits_in(level));
      levels_[level].store(nullptr, std::memory_order_relaxed);
    }
    size_.store(0, std::memory_order_relaxed);
  }
  bool is_open() const { return levels_[0].load(std::memory_order_relaxed) != nullptr; }

  // The value of a key; null: there is none.
  Value* find(uint64_t key) const {
    return find(key, [](const Value&) { return true; });
  }
  // The value of a key, a new one if there was none; null: no memory, full, or key 0. With kMoves the next call may
  // move it.
  Value* make(uint64_t key) {
    return make(key, [](const Value&) { return true; });
  }

  // kMoves: for keys that several entries share, such as a hash of something longer; is_it(value) picks the entry. The
  // caller sets the value of a new entry before the next call.
  template <class IsIt>
  Value* find(uint64_t key, const IsIt& is_it) const {
    Slot* slot = nullptr;
    for (uint32_t level = 0; level < kLevelCount && key != 0; level++) {
      Slot* slots = levels_[level].load(std::memory_order_acquire);
      if (slots == nullptr) return nullptr;
      if (search(slots, level, key, is_it, &slot)) return &slot->value;
      if (slot != nullptr) return nullptr;
    }
    return nullptr;
  }
  template <class IsIt>
  Value* make(uint64_t key, const IsIt& is_it) {
    Slot* slot = nullptr;
    for (uint32_t level = 0; level < kLevelCount && key != 0; level++) {
      Slot* slots = levels_[level].load(std::memory_order_acquire);
      if (slots == nullptr && (slots = add_level(level)) == nullptr) return nullptr;
      while (!search(slots, level, key, is_it, &slot) && slot != nullptr) {
        if (!kShared && is_crowded()) {
          if (!grow()) return nullptr;
          slots = levels_[0].load(std::memory_order_relaxed);
        } else if (take(slot, key)) {
          break;
        }
      }
      if (slot != nullptr) return &slot->value;
    }
    return nullptr;
  }

  // kMoves: room for so many entries in all, for which make() then needs no memory. False: no memory, or too many.
  bool make_room(uint64_t entries) {
    while (entries > (uint64_t{1} << first_bits_) / 4 * 3) {
      if (!grow()) return false;
    }
    return true;
  }

  // The number of entries, including those that other threads are adding, which each() may not visit yet. [any]
  uint64_t size() const { return size_.load(std::memory_order_relaxed); }
  // Calls visit(key, value&) for each entry, in no order. [any]
  template <class Visit>
  void each(const Visit& visit) const {
    for (uint32_t level = 0; level < kLevelCount; level++) {
      Slot* slots = levels_[level].load(std::memory_order_acquire);
      for (uint64_t i = 0; slots != nullptr && i < uint64_t{1} << bits_in(level); i++) {
        const uint64_t key = key_of(slots[i]);
        if (key != 0) visit(key, slots[i].value);
      }
    }
  }
  // Forgets all entries and keeps the memory. Nobody else uses it meanwhile.
  void clear() {
    for (uint32_t level = 0; level < kLevelCount; level++) {
      Slot* slots = levels_[level].load(std::memory_order_relaxed);
      if (slots != nullptr) std::memset(static_cast<void*>(slots), 0, sizeof(Slot) << bits_in(level));
    }
    size_.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr bool kShared = kGrowth != Growth::kMoves;
  static constexpr uint32_t kLevelCount = kGrowth == Growth::kLevels ? 12 : 1;
  // How many slots are tried for a key: more in the last level, since no level follows.
  static constexpr uint32_t kWindow = 8;
  static constexpr uint32_t kLastWindow = 64;

  struct Slot {
    std::conditional_t<kShared, std::atomic<uint64_t>, uint64_t> key;
    Value value;
  };
  static_assert(kShared || std::is_trivially_copyable_v<Value>, "values are moved as bytes");

  static uint32_t bits_of(uint64_t slots) {
    return slots < 2 ? 1 : 63 - static_cast<uint32_t>(__builtin_clzll(slots));
  }
  uint32_t bits_in(uint32_t level) const {
    const uint32_t bits = first_bits_ + 2 * level;
    return kGrowth == Growth::kLevels && bits > most_bits_ ? most_bits_ : bits;
  }
  bool is_last(uint32_t level) const { return bits_in(level) >= most_bits_ || level + 1 == kLevelCount; }

  static uint64_t key_of(const Slot& slot) {
    if constexpr (kShared) {
      return slot.key.load(std::memory_order_acquire);
    } else {
      return slot.key;
    }
  }

  // True: *found is the key's slot. False: *found is the free slot for it, or null: continue in the next level.
  template <class IsIt>
  bool search(Slot* slots, uint32_t level, uint64_t key, const IsIt& is_it, Slot** found) const {
    const uint32_t bits = bits_in(level);
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    const uint64_t window = !kShared ? mask + 1 : is_last(level) ? kLastWindow
                                                                 : kWindow;
    uint64_t at = mix(0, key) >> (64 - bits);
    for (uint64_t i = 0; i < window && i <= mask; i++, at++) {
      Slot* slot = &slots[at & mask];
      const uint64_t there = key_of(*slot);
      *found = slot;
      if (there == 0) return false;
      if (there == key && is_it(slot->value)) return true;
    }
    *found = nullptr;
    return false;
  }

  // Takes a free slot. False: another thread was faster.
  bool take(Slot* slot, uint64_t key) {
    if constexpr (kShared) {
      uint64_t free = 0;
      if (!slot->key.compare_exchange_strong(free, key, std::memory_order_acq_rel)) return false;
      size_.fetch_add(1, std::memory_order_relaxed);
    } else {
      slot->key = key;
      size_.store(size() + 1, std::memory_order_relaxed);
    }
    return true;
  }

  Slot* add_level(uint32_t level) {
    if (level != 0 && is_last(level - 1)) return nullptr;
    Slot* fresh = memory_.template allocate<Slot>(uint64_t{1} << bits_in(level));
    Slot* none = nullptr;
    if (fresh == nullptr || levels_[level].compare_exchange_strong(none, fresh, std::memory_order_acq_rel))
      return fresh;
    memory_.release(fresh, uint64_t{1} << bits_in(level));
    return none;
  }

  bool is_crowded() const { return size() >= (uint64_t{1} << first_bits_) / 4 * 3; }

  bool grow() {
    Slot* old = levels_[0].load(std::memory_order_relaxed);
    const uint64_t slots = uint64_t{1} << first_bits_;
    Slot* fresh =
        old != nullptr && first_bits_ < most_bits_ ? memory_.template allocate<Slot>(slots * 2) : nullptr;
    if (fresh == nullptr) return false;
    levels_[0].store(fresh, std::memory_order_relaxed);
    first_bits_++;
    for (uint64_t i = 0; i < slots; i++) {
      Slot* to = nullptr;
      if (key_of(old[i]) == 0) continue;
      search(
          fresh, 0, key_of(old[i]), [](const Value&) { return false; }, &to);
      if (to != nullptr) std::memcpy(static_cast<void*>(to), &old[i], sizeof(Slot));
    }
    memory_.release(old, slots);
    return true;
  }

  UnitMemory memory_;
  std::atomic<Slot*> levels_[kLevelCount] = {};
  std::atomic<uint64_t> size_{0};
  uint32_t first_bits_ = 0;  // kMoves: log2 of the slots in use
  uint32_t most_bits_ = 0;
};

}  // namespace hprof
