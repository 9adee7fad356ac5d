// What one thread has allocated, by site; and, in front of it, which stack and class belong to which site.
//
// Both belong to one thread, which never waits for anybody: it alone writes. The control thread reads the
// counts at any time, also while the table grows: a table that was replaced stays as it is until the session
// ends (all of them together take no more room than the last one).
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/services.hpp>

#include "plugins/heap_sites/segments.h"

namespace hprof::sites {

struct Count {
  uint32_t site;
  uint32_t reserved;
  uint64_t objects;
  uint64_t bytes;
};

// Sums by site number, which stay where they are.
class Counts {
 public:
  void open(const Services& services) { services_ = services; }
  void close();
  // The count of a site, made if it is new; null: no memory. [owner]
  Count* find(uint32_t site);
  uint32_t size() const { return size_.load(std::memory_order_acquire); }
  // number < size(). [owner][control]
  Count* at(uint32_t number) const { return &items_[number]; }

 private:
  bool grow_index();
  Services services_;
  Segments<Count, 7, 16> items_;
  std::atomic<uint32_t> size_{0};
  uint32_t* index_ = nullptr;  // count numbers, plus 1; by hash of the site. Of the owner alone
  uint32_t index_room_ = 0;
};

// A stack and a class of late: overwrites.
struct Recent {
  alignas(8) uint64_t key;  // 0: free. i386 would align it to 4, and two would not fill a line
  Count* count;             // where to add
  uint32_t owner;           // number of the class in the class table; 0: none
  uint32_t size;            // bytes of each object; 0: it depends
  uint32_t epoch;           // collection after which the class was last seen alive
  uint32_t unloads;         // classes that had gone by then
};

class RecentTable {
 public:
  static constexpr uint32_t kFirstRoom = 1u << 8;
  static constexpr uint32_t kMostRoom = 1u << 17;
  static constexpr uint32_t kWays = 2;
  static constexpr uint32_t kLine = 64;

  void open(const Services& services) { services_ = services; }
  void close();
  // The slot of that key; null: not there. [owner]
  Recent* find(uint64_t key) const {
    if (slots_ == nullptr) return nullptr;
    Recent* slot = slots_ + (key & mask_);
    if (slot[0].key == key) return slot;
    return slot[1].key == key ? slot + 1 : nullptr;
  }
  // A slot for a key that is not there, taken from another if need be; null: no memory. [owner]
  Recent* add(uint64_t key);
  // The slot of that key with all else as in `seen`; null: no memory. [owner]
  Recent* put(uint64_t key, const Recent& seen) {
    Recent* slot = find(key);
    if (slot == nullptr) slot = add(key);
    if (slot == nullptr) return nullptr;
    *slot = seen;
    slot->key = key;
    return slot;
  }

 private:
  bool grow();

  Services services_;
  Recent* memory_ = nullptr;  // a pair more than room
  Recent* slots_ = nullptr;   // in it: pairs, each in a cache line of its own
  uint64_t mask_ = 0;         // of the first of a pair
  uint32_t room_ = 0;
  uint32_t replaced_ = 0;
};

}  // namespace hprof::sites
