// A set of 64-bit ids for heap dumps of any size: a bit or two per id where ids are dense, else two bytes.
//
// Ids are spread over pages of 2^16: the low three bits choose one of eight pages of a 512 KiB range, so that
// both 8-aligned addresses and sequential numbers fill the bits of a page densely. A page starts as a sorted
// list and becomes a bitmap when that is smaller.
#pragma once

#include <cstdint>
#include <vector>

namespace hprof::tool {

class IdSet {
 public:
  static constexpr uint64_t kPageIds = 1 << 16;
  struct Page {
    uint64_t key;
    std::vector<uint16_t> sorted;  // while small
    std::vector<uint64_t> bits;    // kPageIds bits, else
  };
  static uint64_t key_of(uint64_t id) { return id >> 19 << 3 | (id & 7); }
  static uint16_t slot_of(uint64_t id) { return static_cast<uint16_t>(id >> 3); }
  static uint64_t id_of(uint64_t key, uint64_t slot) { return key >> 3 << 19 | slot << 3 | (key & 7); }

  // False: the id was in the set already.
  bool insert(uint64_t id);
  bool contains(uint64_t id) const;
  uint64_t size() const { return size_; }
  void clear();
  // Moves the pages out, in no order; the set is empty afterwards.
  std::vector<Page> take_pages();

 private:
  // Index of the page, or kNone.
  uint32_t find(uint64_t key) const;
  uint32_t add_page(uint64_t key);
  void grow();

  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<Page> pages_;
  std::vector<uint32_t> table_;  // open addressing over pages_, kNone = free
  uint64_t size_ = 0;
  mutable uint64_t last_key_ = 0;
  mutable uint32_t last_page_ = kNone;
};

}  // namespace hprof::tool
