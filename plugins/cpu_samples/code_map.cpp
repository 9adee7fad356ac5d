// Where compiled methods lie.
#include "plugins/cpu_samples/code_map.h"

#include <algorithm>

#include "plugins/cpu_samples/thread_states.h"

namespace hprof::samples {

hprof_status CodeMap::open(const Services& services) {
  SpinGuard guard(&lock_);
  if (pending_ != nullptr) return HPROF_OK;
  pending_ = static_cast<Range*>(services.mem->reserve(services.host, kMostPending * sizeof(Range)));
  return pending_ == nullptr ? HPROF_NO_MEMORY : HPROF_OK;
}

void CodeMap::close(const Services& services) {
  SpinGuard guard(&lock_);
  if (pending_ != nullptr) services.mem->unreserve(services.host, pending_, kMostPending * sizeof(Range));
  services.release(ranges_, room_);
  pending_ = ranges_ = nullptr;
  pending_count_.store(0, std::memory_order_relaxed);
  count_ = room_ = 0;
}

bool CodeMap::add(uint64_t address, uint64_t size, void* method) {
  SpinGuard guard(&lock_);
  uint64_t n = pending_count_.load(std::memory_order_relaxed);
  if (pending_ == nullptr || n == kMostPending) return false;
  pending_[n] = {address, address + size, method};
  pending_count_.store(n + 1, std::memory_order_relaxed);
  return true;
}

uint64_t CodeMap::take_pending(Added* to, uint64_t room) {
  SpinGuard guard(&lock_);
  uint64_t n = pending_count_.load(std::memory_order_relaxed), taken = n < room ? n : room;
  for (uint64_t i = 0; i < taken; i++) to[i] = {pending_[i], i};
  for (uint64_t i = taken; i < n; i++) pending_[i - taken] = pending_[i];
  pending_count_.store(n - taken, std::memory_order_relaxed);
  return taken;
}

// The old ranges without what the added ones overlap, and the added ones without what later ones among them
// overlap. Both inputs are sorted by address, `added` by order among equals.
uint64_t CodeMap::overlay(const Range* old, uint64_t old_count, const Added* added, uint64_t added_count,
                          Range* to) {
  uint64_t count = 0, o = 0;
  uint64_t last_order = 0, last_added = UINT64_MAX;  // position in `to` of the last range that was added
  for (uint64_t a = 0; a < added_count; a++) {
    const Added& next = added[a];
    if (last_added != UINT64_MAX && next.range.from < to[last_added].to) {
      if (next.order < last_order) continue;
      count = last_added;  // the later one wins; old ranges behind the earlier one do not exist yet
    }
    while (o < old_count && old[o].to <= next.range.from) to[count++] = old[o++];
    while (o < old_count && old[o].from < next.range.to) o++;
    last_added = count;
    last_order = next.order;
    to[count++] = next.range;
  }
  while (o < old_count) to[count++] = old[o++];
  return count;
}

void CodeMap::merge(const Services& services) {
  uint64_t expected = pending_count_.load(std::memory_order_relaxed);
  if (expected == 0) return;
  uint64_t room = count_ + expected < kMostRanges ? count_ + expected : kMostRanges;
  uint64_t added_room = room - count_;
  if (added_room == 0) {  // full: forget all, hot code will be compiled and added again
    count_ = 0;
    added_room = room = expected;
  }
  Range* ranges = services.allocate<Range>(room);
  Added* added = services.allocate<Added>(added_room);
  if (ranges != nullptr && added != nullptr) {
    uint64_t taken = take_pending(added, added_room);
    std::sort(added, added + taken, [](const Added& a, const Added& b) {
      return a.range.from != b.range.from ? a.range.from < b.range.from : a.order < b.order;
    });
    uint64_t count = overlay(ranges_, count_, added, taken, ranges);
    services.release(ranges_, room_);
    ranges_ = ranges;
    room_ = room;
    count_ = count;
  } else {
    services.release(ranges, room);
  }
  services.release(added, added_room);
}

void* CodeMap::find(const Services& services, uint64_t address) {
  merge(services);
  const Range* end = ranges_ + count_;
  const Range* after = std::upper_bound(ranges_, const_cast<Range*>(end), address,
                                        [](uint64_t at, const Range& r) { return at < r.from; });
  if (after == ranges_) return nullptr;
  const Range& range = after[-1];
  return address < range.to ? range.method : nullptr;
}

}  // namespace hprof::samples
