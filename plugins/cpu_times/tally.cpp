#include "plugins/cpu_times/tally.h"

#include <cstring>

namespace hprof::times {

static uint64_t hash_of(uint32_t thread, const uint32_t* trace, uint32_t length) {
  uint64_t hash = thread;
  for (uint32_t i = 0; i < length; i++) hash = (hash ^ trace[i]) * 0x9E3779B97F4A7C15ull;
  return hash ^ hash >> 32;
}

void Tally::open(const Services& services, uint32_t depth) {
  services_ = services;
  stride_ = static_cast<uint32_t>((sizeof(TallyRow) + depth * sizeof(uint32_t) + 7) & ~size_t{7});
}

bool Tally::grow() {
  uint64_t room = room_ == 0 ? 256 : room_ * 2;
  if (room > UINT32_MAX / 4) return false;
  auto* rows = services_.allocate<uint8_t>(room * stride_);
  auto* index = services_.allocate<uint32_t>(room * 2);
  if (rows == nullptr || index == nullptr) {
    services_.release(rows, room * stride_);
    services_.release(index, room * 2);
    return false;
  }
  if (size_ != 0) memcpy(rows, rows_, size_ * stride_);
  services_.release(rows_, room_ * stride_);
  services_.release(index_, room_ * 2);
  rows_ = rows;
  index_ = index;
  room_ = room;
  for (uint64_t i = 0; i < size_; i++) {
    uint64_t at = hash_of(row(i)->thread, row(i)->trace(), row(i)->length) & (room * 2 - 1);
    while (index[at] != 0) at = (at + 1) & (room * 2 - 1);
    index[at] = static_cast<uint32_t>(i + 1);
  }
  return true;
}

// The row of that trace, or null with *at where it belongs.
TallyRow* Tally::find(uint32_t thread, const uint32_t* trace, uint32_t length, uint64_t* at) const {
  if (room_ == 0) return nullptr;
  uint64_t mask = room_ * 2 - 1;
  for (*at = hash_of(thread, trace, length) & mask; index_[*at] != 0; *at = (*at + 1) & mask) {
    TallyRow* found = row(index_[*at] - 1);
    if (found->thread == thread && found->length == length &&
        memcmp(found->trace(), trace, length * sizeof(uint32_t)) == 0)
      return found;
  }
  return nullptr;
}

bool Tally::add(uint32_t thread, const uint32_t* trace, uint32_t length, uint64_t count, uint64_t time_ns) {
  uint64_t at = 0;
  if (TallyRow* found = find(thread, trace, length, &at)) {
    found->count += count;
    found->time_ns += time_ns;
    return true;
  }
  if (size_ == room_) {
    if (!grow()) return false;
    find(thread, trace, length, &at);
  }
  TallyRow* made = row(size_++);
  *made = {count, time_ns, thread, length};
  memcpy(made->trace(), trace, length * sizeof(uint32_t));
  index_[at] = static_cast<uint32_t>(size_);
  return true;
}

bool Tally::add_all(const Tally& other) {
  for (uint64_t i = 0; i < other.size(); i++) {
    const TallyRow* row = other.row(i);
    if (!add(row->thread, row->trace(), row->length, row->count, row->time_ns)) return false;
  }
  return true;
}

void Tally::clear() {
  services_.release(rows_, room_ * stride_);
  services_.release(index_, room_ * 2);
  rows_ = nullptr;
  index_ = nullptr;
  room_ = size_ = 0;
}

}  // namespace hprof::times
