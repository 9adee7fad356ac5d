#include "core/pipeline/number_set.h"

#include <cstring>

namespace hprof {

bool NumberSet::create(MemoryAccount& memory, uint32_t most) {
  memory_ = &memory;
  for (uint32_t index = 0; most != 0 && index <= most / kPageBits; index++) {
    if (!make_room(index)) return false;
  }
  return true;
}

void NumberSet::destroy() {
  for (uint32_t i = 0; i < room_; i++) {
    if (pages_[i] != nullptr) memory_->release(pages_[i], sizeof(Page));
  }
  if (pages_ != nullptr) memory_->release(pages_, uint64_t{room_} * sizeof(Page*));
  pages_ = nullptr;
  room_ = 0;
}

bool NumberSet::make_room(uint32_t index) {
  uint32_t room = room_ != 0 ? room_ : kFirstRoom;
  while (room <= index) room *= 2;
  if (room != room_) {
    auto** pages =
        static_cast<Page**>(memory_->allocate(uint64_t{room} * sizeof(Page*), MemoryAccount::kAll));
    if (pages == nullptr) return false;
    if (room_ != 0) {
      memcpy(pages, pages_, room_ * sizeof(Page*));
      memory_->release(pages_, uint64_t{room_} * sizeof(Page*));
    }
    pages_ = pages;
    room_ = room;
  }
  // From all of the budget: without the page the same definitions would be written again and again.
  pages_[index] = static_cast<Page*>(memory_->allocate(sizeof(Page), MemoryAccount::kAll));
  return pages_[index] != nullptr;
}

bool NumberSet::add(uint32_t number) {
  const uint32_t index = number / kPageBits;
  if ((index >= room_ || pages_[index] == nullptr) && !make_room(index)) return true;
  uint64_t& word = pages_[index]->words[number % kPageBits / 64];
  const uint64_t bit = uint64_t{1} << number % 64;
  const bool fresh = (word & bit) == 0;
  word |= bit;
  return fresh;
}

bool NumberSet::has(uint32_t number) const {
  const uint32_t index = number / kPageBits;
  return index < room_ && pages_[index] != nullptr &&
         (pages_[index]->words[number % kPageBits / 64] >> number % 64 & 1) != 0;
}

}  // namespace hprof
