#include "open_counts.h"

#include <cstring>
#include <new>

namespace hprof::count {

void Numbers::add(const hprof_thread_count& row) {
  constexpr uint64_t kFirst = 64;
  if (size_ == room_) {
    const uint64_t room = room_ == 0 ? kFirst : 2 * room_;
    auto* rows = has_all_ ? services_->allocate<hprof_thread_count>(room) : nullptr;
    has_all_ = rows != nullptr;
    if (!has_all_) return;
    if (size_ != 0) std::memcpy(rows, rows_, size_ * sizeof *rows);
    services_->release(rows_, room_);
    rows_ = rows;
    room_ = room;
  }
  rows_[size_++] = row;
}

bool Numbers::take(const Services& services, const hprof_thread_counts& unit, void* jni, bool all) {
  services_ = &services;
  const uint32_t is_whole = unit.each(jni, all ? 1 : 0, this, [](void* to, const hprof_thread_count* row) {
    static_cast<Numbers*>(to)->add(*row);
  });
  services_ = nullptr;
  return is_whole != 0 && has_all_;
}

void Numbers::close(const Services& services) {
  services.release(rows_, room_);
  *this = Numbers();
}

// The rows of before are among these, in the same order.
void Numbers::subtract(const Numbers& before) {
  uint64_t kept = 0, at = 0;
  for (uint64_t i = 0; i < size_; i++) {
    hprof_thread_count row = rows_[i];
    if (at < before.size_ && before.rows_[at].key == row.key) {
      row.count -= before.rows_[at].count;
      row.bytes -= before.rows_[at].bytes;
      at++;
    }
    if (row.count != 0) rows_[kept++] = row;
  }
  size_ = kept;
}

bool Snapshot::take(const Services& services, const hprof_thread_counts* const* units, void* jni, bool all) {
  bool done = true;
  for (uint32_t i = 0; i < kCountingUnits; i++)
    done = done && (units[i] == nullptr || of[i].take(services, *units[i], jni, all));
  if (!done) close(services);
  return done;
}

void Snapshot::close(const Services& services) {
  for (Numbers& numbers : of) numbers.close(services);
}

int64_t OpenCounts::add(const Services& services, const Snapshot& begun, bool all) {
  void* memory = services.allocate<Open>(1);
  if (memory == nullptr) return 0;
  const uint32_t generation = last_generation_.fetch_add(1, std::memory_order_relaxed) & (UINT32_MAX >> 1);
  auto* made = new (memory) Open{begun, generation, all};
  for (uint32_t tries = 0; tries < kMost; tries++) {
    const uint32_t index = next_.fetch_add(1, std::memory_order_relaxed) & (kMost - 1);
    Open* none = nullptr;
    if (open_[index].compare_exchange_strong(none, made, std::memory_order_acq_rel))
      return (static_cast<int64_t>(generation) << kIndexBits | index) + 1;
  }
  services.release(made, 1);
  return 0;
}

bool OpenCounts::remove(const Services& services, int64_t handle, Snapshot* begun, bool* all) {
  if (handle <= 0) return false;
  const int64_t number = handle - 1;
  std::atomic<Open*>& entry = open_[number & (kMost - 1)];
  Open* found = entry.exchange(nullptr, std::memory_order_acq_rel);
  if (found == nullptr) return false;
  if (found->generation != static_cast<uint64_t>(number) >> kIndexBits) {
    // A handle that the program made up, or of a count that has ended.
    Open* none = nullptr;
    if (!entry.compare_exchange_strong(none, found, std::memory_order_acq_rel)) {
      found->begun.close(services);
      services.release(found, 1);
    }
    return false;
  }
  *begun = found->begun;
  *all = found->all;
  services.release(found, 1);
  return true;
}

void OpenCounts::close(const Services& services) {
  for (std::atomic<Open*>& entry : open_) {
    Open* found = entry.exchange(nullptr, std::memory_order_acq_rel);
    if (found == nullptr) continue;
    found->begun.close(services);
    services.release(found, 1);
  }
}

}  // namespace hprof::count
