// The calls of a method that have begun and not ended, by when they began.
//
// A call is counted in the slot of its beginning, without which thread it is on: one atomic operation at its
// beginning, and one at its end, which also adds its duration to a sum. Slots are used again after a while,
// so a thread of the agent moves calls that go on for longer into slots of a coarser level, and so on; the
// end of such a call looks for it there. The count is exact, ages are known to a half at worst.
#pragma once

#include <atomic>
#include <cstdint>

namespace hprof::latency {

// A clock whose values wrap after so many bits; its unit is the caller's.
constexpr uint32_t kClockBits = 52;
constexpr uint64_t kClockMask = (uint64_t{1} << kClockBits) - 1;

// Which calls have moved: the same for all methods.
struct Ages {
  static constexpr uint32_t kLevels = 6, kSlots = 16;
  static constexpr uint32_t kRatioBits = 2;  // a slot is as long as four of the level before
  static constexpr uint32_t kMovesAfter = 9, kUsedAgainAfter = 14;  // slots

  // slot: of the first level, 1 << slot units. [onload]
  void open(uint32_t slot, uint64_t now);
  // Publishes what move() will have moved. [agent]
  void advance(uint64_t now);
  // True: a call that began at `at` has left that level.
  bool has_left(uint32_t level, uint64_t at) const {
    const uint64_t until = moved[level].load(std::memory_order_relaxed);
    return static_cast<int64_t>((at - until) << (64 - kClockBits)) < 0;
  }
  uint32_t shift(uint32_t level) const { return first_shift + level * kRatioBits; }
  uint32_t slot(uint32_t level, uint64_t at) const { return at >> shift(level) & (kSlots - 1); }

  uint32_t first_shift = 32;
  std::atomic<uint64_t> current{0};  // the slot of calls that begin, most likely
  std::atomic<uint64_t> moved[kLevels] = {};
};

// What is known of the call that began first: its age, in units.
struct Oldest {
  uint64_t least, most;
};

class RunningCalls {
 public:
  // A call begins. Returns read_clock(), for which the count does not wait: slots change once a second. [app]
  template <class ReadClock>
  uint64_t begin(Ages* ages, const ReadClock& read_clock) {
    const uint64_t current = ages->current.load(std::memory_order_relaxed);
    const uint32_t shift = ages->first_shift;
    fresh_[current % Ages::kSlots].fetch_add(kOne, std::memory_order_relaxed);
    const uint64_t at = read_clock() & kClockMask;
    if (at >> shift != current) begin_elsewhere(ages, current, at);
    return at;
  }
  // The call that began at `at` ends, after `ns`. [app]
  void end(const Ages& ages, uint64_t at, uint64_t ns) {
    if (ages.has_left(0, at)) return end_later(ages, at, ns);
    std::atomic<uint64_t>& word = fresh_[ages.slot(0, at)];
    if (ns >= kLong) {
      word.fetch_sub(kOne, std::memory_order_relaxed);
      sum_ns_.fetch_add(ns, std::memory_order_relaxed);
      return;
    }
    if ((word.fetch_add(ns - kOne, std::memory_order_relaxed) & kHalf) != 0) carry(&word);
  }
  // Moves what Ages::advance(now) has said. One thread at a time. [agent]
  void move(const Ages& ages, uint64_t now);

  // How many there are. oldest: null, or filled in if there are any. [control]
  uint64_t count(const Ages& ages, uint64_t now, Oldest* oldest) const;
  // The sum of the durations of those that have ended. [control]
  uint64_t sum_ns() const;
  void reset_sum();  // [control]
  void clear();      // before the first call [control]

 private:
  // A word of the first level has a signed number of calls, and below it a sum of nanoseconds, half of whose
  // room stays free for those that are added until the half is carried off.
  static constexpr uint32_t kSumBits = 40;
  static constexpr uint64_t kOne = uint64_t{1} << kSumBits, kSum = kOne - 1, kHalf = kOne / 2;
  static constexpr uint64_t kLong = uint64_t{1} << 24;

  void begin_elsewhere(Ages* ages, uint64_t current, uint64_t at);
  void end_later(const Ages& ages, uint64_t at, uint64_t ns);
  void carry(std::atomic<uint64_t>* word);
  int64_t calls(uint32_t level, uint64_t slot) const;
  void take(uint32_t level, uint64_t slot, int64_t calls);

  std::atomic<uint64_t> fresh_[Ages::kSlots] = {};
  std::atomic<uint64_t> sum_ns_{0};  // and those of the words
  // A call that ends while it is moved is missing here for a moment, and one too much there.
  std::atomic<int32_t> later_[Ages::kLevels - 1][Ages::kSlots] = {};
  std::atomic<int32_t> oldest_{0};  // that have left the last level
};

}  // namespace hprof::latency
