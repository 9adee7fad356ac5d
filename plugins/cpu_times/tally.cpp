#include "tally.h"

#include <cstring>

namespace hprof::times {

static constexpr uint64_t kFirstRows = 256;
static constexpr uint64_t kMostRows = UINT32_MAX / 4;
static constexpr uint64_t kMostOfIndex =
    43;  // bytes a row: slots of 16 bytes, of which at least 3/8 are taken

static uint32_t stride_of(uint32_t depth) {
  return static_cast<uint32_t>((sizeof(TallyRow) + depth * sizeof(uint32_t) + 7) & ~size_t{7});
}

void Tally::open(const Services& services, uint32_t depth) {
  services_ = services;
  stride_ = stride_of(depth);
  static_assert(alignof(TallyRow*) <= 8 && alignof(TallyRow) <= 8, "the stride is a multiple of 8");
}

uint64_t Tally::bytes_of_row(uint32_t depth) { return stride_of(depth) + sizeof(TallyRow*) + kMostOfIndex; }

bool Tally::make_room(uint64_t rows) {
  // Grows in large steps where memory allows, since rows move.
  if (rows > room_ && !grow(rows > 2 * room_ ? rows : 2 * room_) && !grow(rows)) return false;
  if (index_.is_open()) return index_.make_room(rows);
  uint64_t slots = 2 * kFirstRows;
  while (slots / 4 * 3 < rows && slots < kMostRows) slots *= 2;
  return index_.open(services_, slots, 2 * kMostRows);
}

bool Tally::grow(uint64_t room) {
  auto* rows = room <= kMostRows ? services_.allocate<uint8_t>(bytes_of(room)) : nullptr;
  if (rows == nullptr) return false;
  if (size_ != 0) memcpy(rows, rows_, size_ * stride_);
  services_.release(rows_, bytes_of(room_));
  rows_ = rows;
  room_ = room;
  return true;
}

bool Tally::add(uint32_t thread, const uint32_t* trace, uint32_t length, uint64_t count, uint64_t time_ns) {
  if (!index_.is_open() && !make_room(1)) return false;
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
  if (size_ == room_ && !grow(room_ < kFirstRows ? kFirstRows : room_ * 2)) return false;
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

void Tally::turn_ticks(double ns_per_tick) {
  for (uint64_t i = 0; i < size_; i++) {
    const auto ticks = static_cast<int64_t>(row(i)->time_ns);
    row(i)->time_ns = ticks > 0 ? static_cast<uint64_t>(static_cast<double>(ticks) * ns_per_tick + 0.5) : 0;
  }
}

void Tally::clear() {
  services_.release(rows_, bytes_of(room_));
  index_.close();
  rows_ = nullptr;
  room_ = size_ = 0;
}

}  // namespace hprof::times
