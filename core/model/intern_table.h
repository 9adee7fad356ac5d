// A lock-free table that gives each distinct entry one dense number.
#pragma once

#include "core/model/numbered_slots.h"

namespace hprof {

// Numbers 1..capacity. Each has a Slot: the entry's hash, the entry itself, and four links that make the
// slots a hash trie: below a root chosen by the top bits of the hash, each level goes by the next two bits,
// and every slot on the way is an entry. Nothing ever moves and nothing is rehashed; memory follows the
// number of entries; a look-up of n entries visits about log4(n / roots) of them.
//
// Protocol.
//  - Who writes: the thread that took a number fills its slot, alone. It then links it by a compare-and-swap
//    (release) of the empty link at which the search ended. Links change once, from 0, so searches (acquire)
//    see whole entries.
//  - A thread that loses that race goes on from the link that the winner has set. If the entry there (or
//    further down) is equal, its own number is given back, to be used next: at most one per thread is left
//    unused, and equal entries cannot be linked twice, because all of them search the same path and links on
//    it never change back.
//  - Look-ups by number must not see a slot that was filled but not linked: the lowest bit of `hash` says
//    that it is linked. The winner sets it, and so does whoever finds the entry, before giving the number on;
//    so a number that has been handed out by anybody is visible to whoever got it.
// find and at are wait-free but for the length of the path; intern is lock-free. None of them waits or calls
// malloc.
template <class Entry>
class InternTable {
 public:
  constexpr InternTable() = default;

  // False: no memory. [onload][control]
  bool create(MemoryAccount& memory, uint32_t capacity, Backing backing) {
    return slots_.create(memory, capacity, root_bits(capacity), backing);
  }
  // No other thread uses the table. [control]
  void destroy() { slots_.destroy(); }

  // The number of the entry for which equal(const Entry&) holds, or of a new one: fill(Entry&, id) sets all
  // of it (its memory may have been used before) or returns false; undo(Entry&) reverts fill if another
  // thread made an equal entry first. 0: full, the budget is used up, or fill failed. *created: whether this
  // call made it. [onload][control][app]
  template <class Equal, class Fill, class Undo>
  uint32_t intern(uint64_t hash, const Equal& equal, const Fill& fill, const Undo& undo,
                  bool* created = nullptr) {
    if (created) *created = false;
    if (!slots_.capacity()) return 0;
    const uint64_t key = hash & ~kLinked;
    std::atomic<uint32_t>* link = root(hash);
    uint64_t path = hash << slots_.root_bits();
    uint32_t mine = 0;
    for (;;) {
      uint32_t id = link->load(std::memory_order_acquire);
      if (!id) {
        if (!mine && !(mine = fresh(key, fill))) return 0;
        if (link->compare_exchange_strong(id, mine, std::memory_order_release, std::memory_order_acquire)) {
          slot(mine).hash.store(key | kLinked, std::memory_order_release);
          if (created) *created = true;
          return mine;
        }
      }
      Slot& found = slot(id);
      if (matches(found, key, equal)) {
        if (mine) {
          undo(slot(mine).entry);
          give(mine);
        }
        return id;
      }
      link = &found.child[path >> 62];
      path <<= 2;
    }
  }
  template <class Equal, class Fill>
  uint32_t intern(uint64_t hash, const Equal& equal, const Fill& fill) {
    return intern(hash, equal, fill, [](Entry&) {});
  }

  // The number of an equal entry; 0: none. [any] but [signal]
  template <class Equal>
  uint32_t find(uint64_t hash, const Equal& equal) {
    if (!slots_.capacity()) return 0;
    const uint64_t key = hash & ~kLinked;
    uint64_t path = hash << slots_.root_bits();
    for (std::atomic<uint32_t>* link = root(hash);; path <<= 2) {
      const uint32_t id = link->load(std::memory_order_acquire);
      if (!id) return 0;
      Slot& found = slot(id);
      if (matches(found, key, equal)) return id;
      link = &found.child[path >> 62];
    }
  }

  // The entry of a number; nullptr: not in use. Valid until destroy. [any]
  Entry* at(uint32_t id) const {
    if (!id || id > slots_.last()) return nullptr;
    Slot& wanted = slot(id);
    return wanted.hash.load(std::memory_order_acquire) & kLinked ? &wanted.entry : nullptr;
  }

  // The highest number taken; some below may be free. [any]
  uint32_t last() const { return slots_.last(); }

  static uint64_t room(uint32_t capacity) {
    return NumberedSlots::room(capacity, root_bits(capacity), sizeof(Slot));
  }

 private:
  struct Slot {
    std::atomic<uint64_t> hash;
    std::atomic<uint32_t> child[4];  // the first is the link of a free slot
    Entry entry;
  };
  static_assert(sizeof(std::atomic<uint64_t>) == NumberedSlots::kLinkAt && sizeof(std::atomic<uint32_t>) == 4,
                "zeroed memory is a Slot, with its link where NumberedSlots expects it");

  static constexpr uint64_t kLinked = 1;

  // One root per 32 to 64 entries, 16 to 32768 in all: a full table is 3 to 4 levels deep.
  static uint32_t root_bits(uint32_t capacity) {
    uint32_t bits = 4;
    while (bits < 15 && (capacity >> (bits + 5)) > 1) ++bits;
    return bits;
  }
  std::atomic<uint32_t>* root(uint64_t hash) const {
    return slots_.roots() + (hash >> (64 - slots_.root_bits()));
  }
  Slot& slot(uint32_t id) const { return static_cast<Slot*>(slots_.slots())[id]; }

  template <class Equal>
  static bool matches(Slot& found, uint64_t key, const Equal& equal) {
    const uint64_t hash = found.hash.load(std::memory_order_relaxed);
    if ((hash & ~kLinked) != key || !equal(static_cast<const Entry&>(found.entry))) return false;
    if (!(hash & kLinked)) found.hash.store(key | kLinked, std::memory_order_release);
    return true;
  }

  // Cold: few look-ups make an entry.
  template <class Fill>
  [[gnu::cold]] uint32_t fresh(uint64_t key, const Fill& fill) {
    const uint32_t id = slots_.take();
    if (!id) return 0;
    slot(id).hash.store(key, std::memory_order_relaxed);
    slot(id).child[0].store(0, std::memory_order_relaxed);
    if (fill(slot(id).entry, id)) return id;
    give(id);
    return 0;
  }

  void give(uint32_t id) {
    slot(id).hash.store(0, std::memory_order_relaxed);
    slots_.give(id);
  }

  NumberedSlots slots_{sizeof(Slot)};
};

}  // namespace hprof
