// Numbers by object id, in pages allocated at first use: ids are dense, but few have a number.
//
// Zeroed memory is an empty table. False: the budget is used up. Missing entries read as 0. [control][heap]
#pragma once

#include <cstdint>

#include <hprof/cpp/lazy_table.hpp>

namespace hprof::dump {

class PageTable {
 public:
  static constexpr uint32_t kPageBits = 16;  // entries of 4 bytes: 256 KiB
  static constexpr uint32_t kPages = 1u << 16;

  bool open(const Services* services) {
    services_ = services;
    return pages_.open(*services, kPages);
  }

  void close() {
    for (uint32_t i = 0; i < end_; i++) services_->release(pages_[i], kPageEntries);
    pages_.close();
    end_ = 0;
  }

  // The entry of `index`; nullptr: no room.
  uint32_t* at(uint64_t index) {
    const uint64_t page = index >> kPageBits;
    if (page >= kPages) return nullptr;
    if ((page >= end_ || pages_[page] == nullptr) && !make(static_cast<uint32_t>(page))) return nullptr;
    return pages_[page] + (index & ((1u << kPageBits) - 1));
  }

  uint32_t get(uint64_t index) const {
    const uint64_t page = index >> kPageBits;
    if (page >= end_ || pages_[page] == nullptr) return 0;
    return pages_[page][index & ((1u << kPageBits) - 1)];
  }

 private:
  static constexpr uint64_t kPageEntries = 1u << kPageBits;

  bool make(uint32_t page) {
    if (!pages_.cover(uint64_t{page} + 1)) return false;
    pages_[page] = services_->allocate<uint32_t>(kPageEntries);
    if (pages_[page] == nullptr) return false;
    if (page >= end_) end_ = page + 1;
    return true;
  }

  const Services* services_ = nullptr;
  LazyTable<uint32_t*> pages_;
  uint32_t end_ = 0;  // pages exist below this
};

// A set of object ids, one bit each.
class IdSet {
 public:
  bool open(const Services* services) { return words_.open(services); }
  void close() { words_.close(); }
  // False: the id was in the set already, or there is no room.
  bool add(uint64_t id) {
    uint32_t* word = words_.at(id >> 5);
    const uint32_t bit = 1u << (id & 31);
    if (word == nullptr || (*word & bit) != 0) return false;
    *word |= bit;
    return true;
  }
  bool has(uint64_t id) const { return (words_.get(id >> 5) >> (id & 31) & 1) != 0; }

 private:
  PageTable words_;
};

}  // namespace hprof::dump
