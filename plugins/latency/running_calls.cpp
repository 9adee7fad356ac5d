#include "running_calls.h"

namespace hprof::latency {

void Ages::open(uint32_t slot, uint64_t now) {
  first_shift = slot;
  for (std::atomic<uint64_t>& until : moved) until.store(now & kClockMask, std::memory_order_relaxed);
}

void Ages::advance(uint64_t now) {
  for (uint32_t level = 0; level < kLevels; level++) {
    const uint64_t until = ((now >> shift(level)) - (kMovesAfter - 1)) << shift(level) & kClockMask;
    if (has_left(level, until)) continue;
    moved[level].store(until, std::memory_order_relaxed);
  }
}

void RunningCalls::begin_elsewhere(Ages* ages, uint64_t current, uint64_t at) {
  fresh_[ages->slot(0, at)].fetch_add(kOne, std::memory_order_relaxed);
  fresh_[current % Ages::kSlots].fetch_sub(kOne, std::memory_order_relaxed);
  ages->current.store(at >> ages->first_shift, std::memory_order_relaxed);
}

// By one thread only.
void RunningCalls::carry(std::atomic<uint64_t>* word) {
  if ((word->fetch_and(~kHalf, std::memory_order_relaxed) & kHalf) != 0)
    sum_ns_.fetch_add(kHalf, std::memory_order_relaxed);
}

void RunningCalls::end_later(const Ages& ages, uint64_t at, uint64_t ns) {
  uint32_t level = 1;
  while (level < Ages::kLevels && ages.has_left(level, at)) level++;
  take(level, level < Ages::kLevels ? ages.slot(level, at) : 0, 1);
  sum_ns_.fetch_add(ns, std::memory_order_relaxed);
}

// Negative for a moment: a call has ended before it was moved here, or after it was moved away.
int64_t RunningCalls::calls(uint32_t level, uint64_t slot) const {
  if (level == 0) return static_cast<int64_t>(fresh_[slot].load(std::memory_order_relaxed)) >> kSumBits;
  if (level == Ages::kLevels) return oldest_.load(std::memory_order_relaxed);
  return later_[level - 1][slot].load(std::memory_order_relaxed);
}

void RunningCalls::take(uint32_t level, uint64_t slot, int64_t calls) {
  if (level == 0) {
    fresh_[slot].fetch_sub(static_cast<uint64_t>(calls) << kSumBits, std::memory_order_relaxed);
  } else {
    std::atomic<int32_t>& count = level == Ages::kLevels ? oldest_ : later_[level - 1][slot];
    count.fetch_sub(static_cast<int32_t>(calls), std::memory_order_relaxed);
  }
}

void RunningCalls::move(const Ages& ages, uint64_t now) {
  for (uint32_t level = 0; level < Ages::kLevels; level++) {
    for (uint64_t back = Ages::kMovesAfter; back < Ages::kUsedAgainAfter; back++) {
      const uint64_t slot = ((now & kClockMask) >> ages.shift(level)) - back;
      const int64_t moving = calls(level, slot % Ages::kSlots);
      if (moving == 0) continue;
      take(level, slot % Ages::kSlots, moving);
      const bool is_last = level + 1 == Ages::kLevels;
      take(level + 1, is_last ? 0 : (slot >> Ages::kRatioBits) % Ages::kSlots, -moving);
    }
  }
}

uint64_t RunningCalls::count(const Ages& ages, uint64_t now, Oldest* oldest) const {
  now &= kClockMask;
  const auto since = [&](uint64_t then) { return (now - then) & kClockMask; };
  // All calls of a level have left the one before.
  const auto least_in = [&](uint32_t level) {
    return level == 0 ? 0 : since(ages.moved[level - 1].load(std::memory_order_relaxed));
  };
  int64_t sum = calls(Ages::kLevels, 0);
  Oldest found = {least_in(Ages::kLevels), kClockMask};
  bool is_found = sum > 0;
  for (uint32_t level = Ages::kLevels; level-- != 0;) {
    for (uint64_t back = Ages::kSlots; back-- != 0;) {
      const uint64_t slot = (now >> ages.shift(level)) - back;
      const int64_t there = calls(level, slot % Ages::kSlots);
      sum += there;
      if (there <= 0 || is_found) continue;
      is_found = true;
      found.most = since(slot << ages.shift(level));
      const uint64_t length = uint64_t{1} << ages.shift(level);
      found.least = found.most > length ? found.most - length : 0;
      if (found.least < least_in(level)) found.least = least_in(level);
    }
  }
  if (oldest != nullptr) *oldest = is_found ? found : Oldest{0, kClockMask};
  return sum > 0 ? static_cast<uint64_t>(sum) : 0;
}

uint64_t RunningCalls::sum_ns() const {
  uint64_t sum = sum_ns_.load(std::memory_order_relaxed);
  for (const std::atomic<uint64_t>& word : fresh_) sum += word.load(std::memory_order_relaxed) & kSum;
  return sum;
}

void RunningCalls::reset_sum() {
  sum_ns_.store(0, std::memory_order_relaxed);
  for (std::atomic<uint64_t>& word : fresh_) word.fetch_and(~kSum, std::memory_order_relaxed);
}

void RunningCalls::clear() {
  sum_ns_.store(0, std::memory_order_relaxed);
  oldest_.store(0, std::memory_order_relaxed);
  for (std::atomic<uint64_t>& word : fresh_) word.store(0, std::memory_order_relaxed);
  for (auto& level : later_) {
    for (std::atomic<int32_t>& count : level) count.store(0, std::memory_order_relaxed);
  }
}

}  // namespace hprof::latency
