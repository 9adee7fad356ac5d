// Pages of ids: a sorted list while small, a bitmap when dense.
#include "tools/format/id_set.h"

#include <algorithm>
#include <utility>

namespace hprof::tool {

namespace {

// Longer lists take more than half a bitmap, and insertions in their middle are slow.
constexpr size_t kListMax = 2048;
constexpr size_t kWords = IdSet::kPageIds / 64;

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

void IdSet::clear() {
  pages_.clear();
  table_.clear();
  size_ = 0;
  last_page_ = kNone;
}

std::vector<IdSet::Page> IdSet::take_pages() {
  std::vector<Page> pages = std::move(pages_);
  clear();
  return pages;
}

uint32_t IdSet::find(uint64_t key) const {
  if (last_page_ != kNone && last_key_ == key) return last_page_;
  if (table_.empty()) return kNone;
  size_t mask = table_.size() - 1;
  for (size_t i = mix(key) & mask;; i = (i + 1) & mask) {
    uint32_t page = table_[i];
    if (page == kNone) return kNone;
    if (pages_[page].key == key) {
      last_key_ = key;
      last_page_ = page;
      return page;
    }
  }
}

void IdSet::grow() {
  table_.assign(table_.empty() ? 64 : table_.size() * 2, kNone);
  size_t mask = table_.size() - 1;
  for (size_t page = 0; page < pages_.size(); ++page) {
    size_t i = mix(pages_[page].key) & mask;
    while (table_[i] != kNone) i = (i + 1) & mask;
    table_[i] = static_cast<uint32_t>(page);
  }
}

uint32_t IdSet::add_page(uint64_t key) {
  if (pages_.size() * 4 >= table_.size() * 3) grow();
  pages_.push_back(Page{key, {}, {}});
  size_t mask = table_.size() - 1;
  size_t i = mix(key) & mask;
  while (table_[i] != kNone) i = (i + 1) & mask;
  table_[i] = static_cast<uint32_t>(pages_.size() - 1);
  return table_[i];
}

bool IdSet::insert(uint64_t id) {
  uint64_t key = key_of(id);
  uint32_t index = find(key);
  if (index == kNone) index = add_page(key);
  Page& page = pages_[index];
  uint16_t slot = slot_of(id);
  if (page.bits.empty()) {
    auto& list = page.sorted;
    auto place =
        list.empty() || list.back() < slot ? list.end() : std::lower_bound(list.begin(), list.end(), slot);
    if (place != list.end() && *place == slot) return false;
    list.insert(place, slot);
    if (list.size() > kListMax) {
      page.bits.assign(kWords, 0);
      for (uint16_t member : list) page.bits[member / 64] |= uint64_t{1} << (member % 64);
      std::vector<uint16_t>().swap(list);
    }
  } else {
    uint64_t bit = uint64_t{1} << (slot % 64);
    if ((page.bits[slot / 64] & bit) != 0) return false;
    page.bits[slot / 64] |= bit;
  }
  ++size_;
  return true;
}

bool IdSet::contains(uint64_t id) const {
  uint32_t index = find(key_of(id));
  if (index == kNone) return false;
  const Page& page = pages_[index];
  uint16_t slot = slot_of(id);
  if (page.bits.empty()) return std::binary_search(page.sorted.begin(), page.sorted.end(), slot);
  return (page.bits[slot / 64] >> (slot % 64) & 1) != 0;
}

}  // namespace hprof::tool
