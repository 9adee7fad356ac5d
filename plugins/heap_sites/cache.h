// A thread's cache of values by a key of 64 bits, not 0. A new value may overwrite an older one; while that
// happens often, the cache grows.
//
// Belongs to one thread, which never waits.
#pragma once

#include <cstdint>
#include <cstring>

#include <hprof/cpp/hash_table.hpp>

namespace hprof::sites {

// Value: a type for which zeroed memory is valid; at most 1 << kMostBits of them.
template <class Value, uint32_t kMostBits>
class Cache {
 public:
  void close(const UnitMemory& memory) {
    memory.release(memory_, bytes_of(room()));
    memory_ = nullptr;
    entries_ = nullptr;
    bits_ = 0;
  }
  // The value of a key; null: it is not there. Valid until the next put. [owner]
  Value* find(uint64_t key) const {
    if (entries_ == nullptr) return nullptr;
    Entry* pair = pair_of(key);
    if (pair[0].key == key) return &pair[0].value;
    return pair[1].key == key ? &pair[1].value : nullptr;
  }
  // Stores a value; a new key replaces the older one of its pair. Without memory it does nothing. [owner]
  void put(const UnitMemory& memory, uint64_t key, const Value& value) {
    if (Value* known = find(key)) {
      *known = value;
      return;
    }
    const bool wants_room = entries_ == nullptr || (replaced_ > room() / 2 && bits_ < kMostBits);
    if (wants_room && !grow(memory) && entries_ == nullptr) return;
    Entry* pair = pair_of(key);
    if (pair[0].key != 0) replaced_++;
    pair[1] = pair[0];
    pair[0] = {key, value};
  }
  void clear() {
    if (entries_ != nullptr) memset(static_cast<void*>(entries_), 0, sizeof(Entry) * room());
    replaced_ = 0;
  }

 private:
  struct alignas(sizeof(uint64_t) + sizeof(Value) <= 16 ? 16 : 32) Entry {
    uint64_t key;  // 0: free
    Value value;
  };
  static constexpr uint32_t kFirstBits = 8, kStepBits = 2;
  static_assert(kMostBits % kStepBits == 0 && kMostBits >= kFirstBits, "what it grows to");
  static constexpr uintptr_t kLine = 64;
  static_assert(kLine % (2 * sizeof(Entry)) == 0, "a pair lies in one cache line");

  uint32_t room() const { return bits_ != 0 ? 1u << bits_ : 0; }
  static uint64_t bytes_of(uint64_t room) { return room * sizeof(Entry) + kLine; }
  Entry* pair_of(uint64_t key) const { return entries_ + (mix(0, key) >> (65 - bits_)) * 2; }

  bool grow(const UnitMemory& memory) {
    const uint32_t bits = bits_ == 0 ? kFirstBits : bits_ + kStepBits, count = room();
    auto* fresh = memory.template allocate<uint8_t>(bytes_of(uint64_t{1} << bits));
    if (fresh == nullptr) return false;
    uint8_t* old = memory_;
    const Entry* from = entries_;
    memory_ = fresh;
    entries_ = reinterpret_cast<Entry*>((reinterpret_cast<uintptr_t>(fresh) + kLine - 1) & ~(kLine - 1));
    bits_ = bits;
    replaced_ = 0;
    // Moves the older one of a pair first, so that the newer one comes first in its new pair as well.
    for (uint32_t i = count; i-- > 0;) {
      if (from[i].key == 0) continue;
      Entry* pair = pair_of(from[i].key);
      pair[1] = pair[0];
      pair[0] = from[i];
    }
    memory.release(old, bytes_of(count));
    return true;
  }

  uint8_t* memory_ = nullptr;  // the allocated memory: room() entries and a cache line
  Entry* entries_ = nullptr;   // aligned, inside memory_: pairs, the newer entry first
  uint32_t bits_ = 0;
  uint32_t replaced_ = 0;
};

}  // namespace hprof::sites
