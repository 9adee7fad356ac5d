#include "number_map.h"

#include <cstring>

namespace hprof::otlp {

bool NumberMap::open(const Services& services) {
  return entries_.open(services, kMost) && slots_.open(services, 2 * kMost);
}

void NumberMap::close() {
  entries_.close();
  slots_.close();
}

void NumberMap::clear() {
  if (slot_count_ != 0) std::memset(slots_.data(), 0, slot_count_ * sizeof(uint32_t));
  count_ = 0;
}

void NumberMap::keep_room() {
  if (slot_count_ == 0) grow();
  entries_.cover(1);
}

// The slot of a key, or the free one where it belongs.
uint32_t* NumberMap::slot_of(uint64_t key) {
  uint32_t at = static_cast<uint32_t>(key) & (slot_count_ - 1);
  while (slots_[at] != 0 && entries_[slots_[at] - 1].key != key) at = (at + 1) & (slot_count_ - 1);
  return &slots_[at];
}

bool NumberMap::grow() {
  const uint32_t more = slot_count_ == 0 ? kFirstSlots : 2 * slot_count_;
  if (!slots_.cover(more)) return false;
  slot_count_ = more;
  std::memset(slots_.data(), 0, slot_count_ * sizeof(uint32_t));
  for (uint32_t i = 0; i < count_; i++) *slot_of(entries_[i].key) = i + 1;
  return true;
}

uint32_t* NumberMap::at(uint64_t key) {
  if (slot_count_ == 0 && !grow()) return nullptr;
  uint32_t* slot = slot_of(key);
  if (*slot == 0) {
    if (count_ >= slot_count_ / 2) {
      if (!grow()) return nullptr;
      slot = slot_of(key);
    }
    if (!entries_.cover(uint64_t{count_} + 1)) return nullptr;
    entries_[count_] = {key, 0, 0};
    *slot = ++count_;
  }
  return &entries_[*slot - 1].number;
}

}  // namespace hprof::otlp
