#include "plugins/cpu_times/tally.h"

#include <cstring>

namespace hprof::times {

static constexpr uint64_t kFirstRows = 256;
static constexpr uint64_t kMostRows = UINT32_MAX / 4;

void Tally::open(const Services& services, uint32_t depth) {
  services_ = services;
  stride_ = static_cast<uint32_t>((sizeof(TallyRow) + depth * sizeof(uint32_t) + 7) & ~size_t{7});
  static_assert(alignof(TallyRow*) <= 8 && alignof(TallyRow) <= 8, "the stride is a multiple of 8");
}

bool Tally::grow() {
  const uint64_t room = room_ == 0 ? kFirstRows : room_ * 2;
  auto* rows = room <= kMostRows ? services_.allocate<uint8_t>(bytes_of(room)) : nullptr;
  if (rows == nullptr) return false;
  if (size_ != 0) memcpy(rows, rows_, size_ * stride_);
  services_.release(rows_, bytes_of(room_));
  rows_ = rows;
  room_ = room;
  return true;
}

bool Tally::add(uint32_t thread, const uint32_t* trace, uint32_t length, uint64_t count, uint64_t time_ns) {
  if (!index_.is_open() && !index_.open(services_, 2 * kFirstRows, 2 * kMostRows)) return false;
  uint64_t key = mix(thread, trace, length);
  if (key == 0) key = 1;
  const auto is_it = [&](uint32_t number) {
    const TallyRow* known = row(number - 1);
    return known->thread == thread && known->length == length &&
           memcmp(known->trace(), trace, length * sizeof(uint32_t)) == 0;
  };
  uint32_t* number = index_.find(key, is_it);
  if (number != nullptr) {
    row(*number - 1)->count += count;
    row(*number - 1)->time_ns += time_ns;
    return true;
  }
  if (size_ == room_ && !grow()) return false;
  number = index_.make(key, is_it);
  if (number == nullptr) return false;
  TallyRow* made = row(size_++);
  *made = {count, time_ns, thread, length};
  memcpy(made->trace(), trace, length * sizeof(uint32_t));
  *number = static_cast<uint32_t>(size_);
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
  services_.release(rows_, bytes_of(room_));
  index_.close();
  rows_ = nullptr;
  room_ = size_ = 0;
}

}  // namespace hprof::times
