// SPDX-License-Identifier: Apache-2.0
// Numbered entries that threads take, give back and take again: for the state of a thread (hprof_thread.slot), or for
// what a hash table refers to by number.
//
// The memory of an entry stays until close, so a thread with an old pointer to one may still read it, and see by what the
// user of the pool has stored there (an owner, a generation) that the entry has changed hands. Lock-free.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/segments.hpp>

namespace hprof {

// The first member of each entry; only the pool uses it.
struct PooledEntry {
  std::atomic<uint32_t> next_free;  // number
  uint32_t number;                  // of the entry, from 1
};

// Entry: a type derived from PooledEntry for which zeroed memory is valid.
template <class Entry, uint32_t kFirstBits, uint32_t kSegments>
class EntryPool {
 public:
  static constexpr uint32_t kMost = Segments<Entry, kFirstBits, kSegments>::kMost - 1;

  // Takes an entry: a new one is zeroed, a reused one is as it was given back. Null: no memory, or `most` are in use.
  // [app][control]
  Entry* take(const UnitMemory& memory, uint32_t most = kMost) {
    Entry* entry = pop();
    return entry != nullptr ? entry : make(memory, most);
  }
  // Returns an entry, which nobody uses any more, to the pool. [app][control]
  void give_back(Entry* entry) {
    uint64_t head = free_.load(std::memory_order_relaxed), with_entry;
    do {
      entry->next_free.store(static_cast<uint32_t>(head), std::memory_order_relaxed);
      with_entry = (head & 0xffffffff00000000ull) | entry->number;
    } while (!free_.compare_exchange_weak(head, with_entry, std::memory_order_acq_rel));
  }
  // The highest number of an entry that was ever taken; 0: none. [any]
  uint32_t last() const { return last_.load(std::memory_order_acquire); }
  // The entry with a number up to last(), or with one published by a release store. [any]
  Entry& operator[](uint32_t number) const { return entries_[number]; }
  // Calls visit(entry&) for every entry that was ever taken. [any]
  template <class Visit>
  void each(const Visit& visit) const {
    const uint32_t end = last();
    for (uint32_t number = 1; number <= end; number++) visit(entries_[number]);
  }
  // Frees all entries. No thread uses one any more. [control]
  void close(const UnitMemory& memory) {
    entries_.close(memory);
    last_.store(0, std::memory_order_relaxed);
    free_.store(0, std::memory_order_relaxed);
  }

 private:
  Entry* pop() {
    uint64_t head = free_.load(std::memory_order_acquire);
    while (static_cast<uint32_t>(head) != 0) {
      Entry* entry = &entries_[static_cast<uint32_t>(head)];
      // Another thread may have taken the entry, and next_free may belong to another list by now; then the exchange
      // fails.
      const uint64_t next = ((head >> 32) + 1) << 32 | entry->next_free.load(std::memory_order_relaxed);
      if (free_.compare_exchange_weak(head, next, std::memory_order_acq_rel)) return entry;
    }
    return nullptr;
  }

  Entry* make(const UnitMemory& memory, uint32_t most) {
    uint32_t before = last_.load(std::memory_order_relaxed);
    do {
      if (before >= most || !entries_.cover(memory, before + 1)) return nullptr;
    } while (!last_.compare_exchange_weak(before, before + 1, std::memory_order_acq_rel));
    entries_[before + 1].number = before + 1;
    return &entries_[before + 1];
  }

  Segments<Entry, kFirstBits, kSegments> entries_;
  std::atomic<uint32_t> last_{0};
  // The number of the first free entry in the low half; the high half changes whenever one is taken, so that a
  // entry which was taken and given back meanwhile is not mistaken for one that stayed.
  std::atomic<uint64_t> free_{0};
};

}  // namespace hprof
