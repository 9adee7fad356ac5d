// SPDX-License-Identifier: Apache-2.0
// A hash table of what comes and goes, such as blocks of memory by address. Any number of threads put and take.
//
// Slots are in buckets of eight. A key is in the bucket that its hash selects in some level; a level has four times as many
// as the one before, and is made when a key finds its buckets in those before full. A thread takes a free slot by exchanging
// its key 0 for kBusy, writes the value, then the key; it frees a slot by exchanging the key for 0. Nobody waits, nothing
// is locked. A key is put once, and taken before it is put again.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include <hprof/cpp/hash_table.hpp>

namespace hprof {

// Value: a plain type, a multiple of eight bytes.
template <class Value>
class LiveTable {
 public:
  // False: no memory. [onload][control]
  bool open(const UnitMemory& memory) {
    memory_ = memory;
    return level(0, true) != nullptr;
  }
  // Frees the memory. No other thread uses the table any more. [control]
  void close() {
    for (uint32_t i = 0; i < kLevels; i++) {
      memory_.release(levels_[i].load(std::memory_order_relaxed), buckets_in(i));
      levels_[i].store(nullptr, std::memory_order_relaxed);
    }
  }
  // False: no memory, or full. Keys are greater than 1. [app]
  bool put(uint64_t key, const Value& value) {
    for (uint32_t i = 0; i < kLevels; i++) {
      Bucket* buckets = level(i, true);
      if (buckets == nullptr) return false;
      for (Slot& slot : buckets[index(key, i)].slots) {
        uint64_t free = 0;
        if (slot.key.load(std::memory_order_relaxed) != 0 ||
            !slot.key.compare_exchange_strong(free, kBusy, std::memory_order_acquire))
          continue;
        uint64_t words[kWords] = {};
        std::memcpy(words, &value, sizeof value);
        for (uint32_t at = 0; at < kWords; at++) slot.value[at].store(words[at], std::memory_order_relaxed);
        slot.key.store(key, std::memory_order_release);
        return true;
      }
    }
    return false;
  }
  // Removes a key. False: it is not there. [app]
  bool take(uint64_t key, Value* value) {
    for (uint32_t i = 0; i < kLevels && key > kBusy; i++) {
      Bucket* buckets = level(i, false);
      if (buckets == nullptr) return false;
      for (Slot& slot : buckets[index(key, i)].slots) {
        uint64_t there = slot.key.load(std::memory_order_acquire);
        if (there != key) continue;
        uint64_t words[kWords];
        for (uint32_t at = 0; at < kWords; at++) words[at] = slot.value[at].load(std::memory_order_relaxed);
        std::memcpy(value, words, sizeof *value);
        if (slot.key.compare_exchange_strong(there, 0, std::memory_order_acq_rel)) return true;
      }
    }
    return false;
  }

 private:
  static constexpr uint64_t kBusy = 1;
  static constexpr uint32_t kFirstBits = 7, kLevels = 8;  // 1,024 slots at first, 16 million in the last level
  // Where a uint64_t is aligned to four bytes, as on i386, the last word may be half full.
  static constexpr uint32_t kWords = (sizeof(Value) + sizeof(uint64_t) - 1) / sizeof(uint64_t);

  struct Slot {
    std::atomic<uint64_t> key;
    std::atomic<uint64_t> value[kWords];
  };
  struct Bucket {
    Slot slots[8];
  };

  static uint64_t buckets_in(uint32_t level) { return uint64_t{1} << (kFirstBits + 2 * level); }
  static uint64_t index(uint64_t key, uint32_t level) { return mix(0, key) >> (64 - kFirstBits - 2 * level); }

  Bucket* level(uint32_t i, bool make) {
    Bucket* buckets = levels_[i].load(std::memory_order_acquire);
    if (buckets != nullptr || !make) return buckets;
    Bucket* fresh = memory_.template allocate<Bucket>(buckets_in(i));
    if (fresh == nullptr || levels_[i].compare_exchange_strong(buckets, fresh, std::memory_order_acq_rel)) return fresh;
    memory_.release(fresh, buckets_in(i));
    return buckets;
  }

  UnitMemory memory_;
  std::atomic<Bucket*> levels_[kLevels] = {};
};

}  // namespace hprof
