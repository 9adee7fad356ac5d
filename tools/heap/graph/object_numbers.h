// Numbers objects 0, 1, 2, ... in the order of their ids: a bitmap of existing ids, with counts.
//
// The order is that of the pages of IdSet, which for aligned addresses is the order of addresses. About 1.3
// bits for each possible address between the objects; two bytes per object where ids are far apart.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/format/id_set.h"
#include "tools/heap/graph/big_array.h"

namespace hprof::tool {

constexpr uint32_t kNoObject = UINT32_MAX;

// Sorts numbers, and drops those that are there before.
void sort_numbers(std::vector<uint32_t>* numbers);

class ObjectNumbers {
 public:
  // Takes the ids out of the set.
  void build(IdSet& ids, MemoryBudget& budget);

  uint32_t size() const { return size_; }
  // kNoObject: no object has this id.
  uint32_t number_of(uint64_t id) const;
  uint64_t id_of(uint32_t number) const;
  // The next higher id in the same run of pages; 0: not known.
  uint64_t id_after(uint64_t id) const;

 private:
  friend class SnapshotFile;
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Page {
    uint64_t key;
    uint32_t first;  // number of its first object
    uint32_t words;  // index of its bitmap in bits_ and before_, kNone when it is a list
    uint32_t list;   // index of its list in lists_
    uint32_t count;
  };
  const Page* find(uint64_t key) const;
  void build_table();

  uint32_t size_ = 0;
  BigArray<Page> pages_;         // by key
  std::vector<uint32_t> table_;  // page by key - first key, or by hash of the key
  bool direct_ = false;
  uint64_t first_key_ = 0;
  BigArray<uint64_t> bits_;
  BigArray<uint16_t> before_;  // ids of the page before each word
  BigArray<uint16_t> lists_;
};

}  // namespace hprof::tool
