#include "plugins/heap_sites/thread_table.h"

#include "plugins/heap_sites/spin_lock.h"

namespace hprof::sites {

void Counts::close() {
  items_.close(services_);
  services_.release(index_, index_room_);
  index_ = nullptr;
  index_room_ = 0;
  size_.store(0, std::memory_order_release);
}

bool Counts::grow_index() {
  uint32_t room = index_room_ == 0 ? 256 : index_room_ * 2;
  auto* index = services_.allocate<uint32_t>(room);
  if (index == nullptr) return false;
  uint32_t size = size_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < size; i++) {
    uint64_t place = mix(0, at(i)->site) & (room - 1);
    while (index[place] != 0) place = (place + 1) & (room - 1);
    index[place] = i + 1;
  }
  services_.release(index_, index_room_);
  index_ = index;
  index_room_ = room;
  return true;
}

Count* Counts::find(uint32_t site) {
  uint32_t size = size_.load(std::memory_order_relaxed);
  if (size * 2 >= index_room_ && !grow_index()) return nullptr;
  uint64_t place = mix(0, site) & (index_room_ - 1);
  for (; index_[place] != 0; place = (place + 1) & (index_room_ - 1)) {
    Count* count = at(index_[place] - 1);
    if (count->site == site) return count;
  }
  if (!items_.cover(services_, size)) return nullptr;
  Count* made = at(size);
  made->site = site;
  index_[place] = size + 1;
  size_.store(size + 1, std::memory_order_release);
  return made;
}

static_assert(sizeof(Recent) * RecentTable::kWays == RecentTable::kLine, "a pair fills a cache line");

void RecentTable::close() {
  services_.release(memory_, room_ + kWays);
  memory_ = slots_ = nullptr;
  room_ = 0;
}

bool RecentTable::grow() {
  uint32_t room = room_ == 0 ? kFirstRoom : room_ * 4;
  auto* memory = services_.allocate<Recent>(room + kWays);
  if (memory == nullptr) return false;
  auto* slots =
      reinterpret_cast<Recent*>((reinterpret_cast<uintptr_t>(memory) + kLine - 1) & ~uintptr_t{kLine - 1});
  for (uint32_t i = 0; i < room_; i++) {
    if (slots_[i].key == 0) continue;
    Recent* to = slots + (slots_[i].key & (room - kWays));
    if (to[0].key != 0) to++;
    *to = slots_[i];
  }
  services_.release(memory_, room_ + kWays);
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
