// The stacks and classes used lately and their sites: a cache in front of the counts of one thread.
//
// Belongs to one thread, which never waits.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>

#include "plugins/heap_sites/site_table.h"

namespace hprof::sites {

// What one thread has allocated at a site. Written by that thread only; the control thread reads it at any
// time.
struct Count {
  uint32_t site;
  uint32_t reserved;
  Amount allocated;

  void add(Amount by) {
    __atomic_store_n(&allocated.objects, allocated.objects + by.objects, __ATOMIC_RELAXED);
    __atomic_store_n(&allocated.bytes, allocated.bytes + by.bytes, __ATOMIC_RELAXED);
  }
  Amount read() const {
    return {__atomic_load_n(&allocated.objects, __ATOMIC_RELAXED),
            __atomic_load_n(&allocated.bytes, __ATOMIC_RELAXED)};
  }
};

// Where objects of a stack and a class count.
struct Known {
  Count* count;           // where to add; null: not known
  uint32_t owner;         // number of the class in the class table; 0: none
  uint32_t size;          // as AllocatedClasses::quick_size()
  uint32_t epoch;         // valid as long as it is the collector's
  uint32_t reserved = 0;  // fills a line with two of them and their keys where pointers have 32 bits, too
};

// A stack and a class used lately; may be overwritten.
struct Recent {
  alignas(8) uint64_t key;  // 0: free. i386 would align it to 4, and two would not fill a line
  Known known;
};

class RecentTable {
 public:
  static constexpr uint32_t kFirstRoom = 1u << 8;
  static constexpr uint32_t kMostRoom = 1u << 17;
  static constexpr uint32_t kWays = 2;
  static constexpr uint32_t kLine = 64;

  void open(const UnitMemory& memory) { memory_from_ = memory; }
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
  // Fills in the slot of that key. Without memory it does nothing. [owner]
  void put(uint64_t key, const Known& known) {
    Recent* slot = find(key);
    if (slot == nullptr) slot = add(key);
    if (slot != nullptr) slot->known = known;
  }

 private:
  bool grow();

  UnitMemory memory_from_;
  Recent* memory_ = nullptr;  // room and one more pair
  Recent* slots_ = nullptr;   // inside it: pairs, each in one cache line
  uint64_t mask_ = 0;         // of the first of a pair
  uint32_t room_ = 0;
  uint32_t replaced_ = 0;
};

}  // namespace hprof::sites
