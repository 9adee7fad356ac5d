// Bitmaps with counts per word.
#include "tools/heap/graph/object_numbers.h"

#include <algorithm>

#include "tools/format/definitions.h"

namespace hprof::tool {

namespace {

constexpr uint32_t kWords = IdSet::kPageIds / 64;

unsigned count_bits(uint64_t word) { return static_cast<unsigned>(__builtin_popcountll(word)); }

// Position of the set bit number `rank` of a word with more set bits than that.
unsigned select_bit(uint64_t word, unsigned rank) {
  for (; rank > 0; --rank) word &= word - 1;
  return static_cast<unsigned>(__builtin_ctzll(word));
}

}  // namespace

void sort_numbers(std::vector<uint32_t>* numbers) {
  std::sort(numbers->begin(), numbers->end());
  numbers->erase(std::unique(numbers->begin(), numbers->end()), numbers->end());
}

void ObjectNumbers::build(IdSet& ids, MemoryBudget& budget) {
  size_ = static_cast<uint32_t>(ids.size());
  std::vector<IdSet::Page> pages = ids.take_pages();
  std::sort(pages.begin(), pages.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  size_t words = 0, listed = 0;
  for (const IdSet::Page& page : pages) {
    if (page.bits.empty()) {
      listed += page.sorted.size();
    } else {
      words += kWords;
    }
  }
  pages_.allocate(budget, pages.size());
  bits_.allocate(budget, words);
  before_.allocate(budget, words);
  lists_.allocate(budget, listed);
  uint32_t first = 0, word = 0, list = 0;
  for (size_t i = 0; i < pages.size(); ++i) {
    IdSet::Page& from = pages[i];
    Page& to = pages_[i];
    to = {from.key, first, kNone, list, static_cast<uint32_t>(from.sorted.size())};
    if (from.bits.empty()) {
      std::copy(from.sorted.begin(), from.sorted.end(), lists_.data() + list);
      list += to.count;
      std::vector<uint16_t>().swap(from.sorted);
    } else {
      to.words = word;
      for (uint32_t k = 0; k < kWords; ++k, ++word) {
        bits_[word] = from.bits[k];
        before_[word] = static_cast<uint16_t>(to.count);
        to.count += count_bits(from.bits[k]);
      }
      std::vector<uint64_t>().swap(from.bits);
    }
    first += to.count;
  }
  build_table();
}

void ObjectNumbers::build_table() {
  size_t count = pages_.size();
  table_.clear();
  if (count == 0) return;
  first_key_ = pages_[0].key;
  uint64_t range = pages_[count - 1].key - first_key_;
  direct_ = range < 64 * uint64_t{count} + 4096;
  size_t size = direct_ ? static_cast<size_t>(range) + 1 : 64;
  while (!direct_ && size < 2 * count) size *= 2;
  table_.assign(size, kNone);
  for (size_t i = 0; i < count; ++i) {
    size_t at = static_cast<size_t>(pages_[i].key - first_key_);
    if (!direct_) {
      at = IdHash()(pages_[i].key) & (size - 1);
      while (table_[at] != kNone) at = (at + 1) & (size - 1);
    }
    table_[at] = static_cast<uint32_t>(i);
  }
}

const ObjectNumbers::Page* ObjectNumbers::find(uint64_t key) const {
  if (table_.empty()) return nullptr;
  if (direct_) {
    uint64_t at = key - first_key_;
    if (at >= table_.size() || table_[at] == kNone) return nullptr;
    return &pages_[table_[at]];
  }
  size_t mask = table_.size() - 1;
  for (size_t at = IdHash()(key) & mask; table_[at] != kNone; at = (at + 1) & mask) {
    if (pages_[table_[at]].key == key) return &pages_[table_[at]];
  }
  return nullptr;
}

uint32_t ObjectNumbers::number_of(uint64_t id) const {
  const Page* page = find(IdSet::key_of(id));
  if (page == nullptr) return kNoObject;
  uint16_t slot = IdSet::slot_of(id);
  if (page->words == kNone) {
    const uint16_t* list = lists_.data() + page->list;
    const uint16_t* found = std::lower_bound(list, list + page->count, slot);
    if (found == list + page->count || *found != slot) return kNoObject;
    return page->first + static_cast<uint32_t>(found - list);
  }
  uint32_t word = page->words + slot / 64;
  uint64_t bit = uint64_t{1} << (slot % 64);
  if ((bits_[word] & bit) == 0) return kNoObject;
  return page->first + before_[word] + count_bits(bits_[word] & (bit - 1));
}

uint64_t ObjectNumbers::id_of(uint32_t number) const {
  const Page* begin = pages_.data();
  const Page* page = std::upper_bound(begin, begin + pages_.size(), number,
                                      [](uint32_t n, const Page& p) { return n < p.first; }) -
                     1;
  uint32_t rank = number - page->first;
  if (page->words == kNone) return IdSet::id_of(page->key, lists_[page->list + rank]);
  const uint16_t* before = before_.data() + page->words;
  // A full page has 2^16 ids before its end, but no word has.
  size_t word = static_cast<size_t>(std::upper_bound(before, before + kWords, rank) - before) - 1;
  return IdSet::id_of(page->key, word * 64 + select_bit(bits_[page->words + word], rank - before[word]));
}

uint64_t ObjectNumbers::id_after(uint64_t id) const {
  uint32_t number = number_of(id);
  if (number == kNoObject || number + 1 >= size_) return 0;
  // The common case, without a search: the next id is in the same word.
  const Page* page = find(IdSet::key_of(id));
  if (page->words != kNone) {
    uint16_t slot = IdSet::slot_of(id);
    uint64_t rest = slot % 64 == 63 ? 0 : bits_[page->words + slot / 64] >> (slot % 64 + 1);
    if (rest != 0) return id + 8 * (1 + static_cast<uint64_t>(__builtin_ctzll(rest)));
  }
  uint64_t next = id_of(number + 1);
  return next > id ? next : 0;
}

}  // namespace hprof::tool
