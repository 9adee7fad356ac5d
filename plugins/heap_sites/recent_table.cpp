#include "plugins/heap_sites/recent_table.h"

namespace hprof::sites {

static_assert(sizeof(Recent) * RecentTable::kWays == RecentTable::kLine, "a pair fills a cache line");

void RecentTable::close() {
  memory_from_.release(memory_, room_ + kWays);
  memory_ = slots_ = nullptr;
  room_ = 0;
}

bool RecentTable::grow() {
  uint32_t room = room_ == 0 ? kFirstRoom : room_ * 4;
  auto* memory = memory_from_.allocate<Recent>(room + kWays);
  if (memory == nullptr) return false;
  auto* slots =
      reinterpret_cast<Recent*>((reinterpret_cast<uintptr_t>(memory) + kLine - 1) & ~uintptr_t{kLine - 1});
  for (uint32_t i = 0; i < room_; i++) {
    if (slots_[i].key == 0) continue;
    Recent* to = slots + (slots_[i].key & (room - kWays));
    if (to[0].key != 0) to++;
    *to = slots_[i];
  }
  memory_from_.release(memory_, room_ + kWays);
  memory_ = memory;
  slots_ = slots;
  room_ = room;
  mask_ = room - kWays;
  replaced_ = 0;
  return true;
}

Recent* RecentTable::add(uint64_t key) {
  bool wants_room = slots_ == nullptr || (replaced_ > room_ / 2 && room_ < kMostRoom);
  if (wants_room && !grow() && slots_ == nullptr) return nullptr;
  Recent* slot = slots_ + (key & mask_);
  if (slot[0].key != 0) {
    replaced_++;
    if (slot[1].key == 0 || (replaced_ & 1) != 0) slot++;
  }
  *slot = {};
  slot->key = key;
  return slot;
}

}  // namespace hprof::sites
