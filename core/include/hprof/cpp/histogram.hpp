// SPDX-License-Identifier: Apache-2.0
// A histogram of durations: eight classes for each power of two, so a class is at most 12.5 % wide. The
// bounds are nanoseconds, the same in every process, so that counts of several can be added up.
#pragma once

#include <atomic>
#include <cstdint>

namespace hprof::durations {

constexpr uint32_t kClasses = 320;  // the last one begins at 68 minutes, and has no end

constexpr uint32_t class_of(uint64_t ns) {
  const auto shift = static_cast<uint32_t>(60 - __builtin_clzll(ns | 8));
  const uint64_t index = uint64_t{shift} * 8 + (ns >> shift);
  return index < kClasses ? static_cast<uint32_t>(index) : kClasses - 1;
}
// The least duration of a class, and that of the next class; of the last one 292 years, which fit signed
// numbers.
constexpr uint64_t class_begin(uint32_t index) {
  return index < 16 ? index : uint64_t{8 + index % 8} << (index / 8 - 1);
}
constexpr uint64_t class_end(uint32_t index) {
  return index + 1 < kClasses ? class_begin(index + 1) : INT64_MAX;
}

// The calls of one method, or what else takes time. Any number of threads add to it, without a lock; a reader may see a
// call in one sum and not yet in another. Zeroed memory is an empty one.
class Histogram {
 public:
  // A call begins. That of a constructor which may fail in super() or this(), and whose end is not reported
  // then, is there until constructed(). [app]
  void begin() { begun_.fetch_add(1, std::memory_order_relaxed); }
  void begin_in_super() {
    in_super_.fetch_add(1, std::memory_order_relaxed);
    begin();
  }
  void constructed() { in_super_.fetch_sub(1, std::memory_order_relaxed); }
  // A call that has begun was none. [app]
  void drop() { begun_.fetch_sub(1, std::memory_order_relaxed); }
  // A call ends after `ns`. [app]
  void end(uint64_t ns) {
    if (ns > longest_ns_.load(std::memory_order_relaxed)) raise(ns);
    sum_ns_.fetch_add(ns, std::memory_order_relaxed);
    counts_[class_of(ns)].fetch_add(1, std::memory_order_relaxed);
  }
  // Drops the calls that have ended. [control]
  void reset();
  // Drops all, before the first call. [control]
  void clear();

 private:
  friend struct Counts;
  void raise(uint64_t ns);

  std::atomic<uint64_t> begun_{0};
  std::atomic<int64_t> in_super_{0};
  std::atomic<uint64_t> sum_ns_{0};
  std::atomic<uint64_t> longest_ns_{0};
  std::atomic<uint64_t> counts_[kClasses] = {};
};

// What a report reads of a histogram at once.
struct Counts {
  // [control]
  void read(const Histogram& from);
  // Leaves what is new since `before`, but the longest, the running calls and those without a duration.
  void subtract(const Counts& before);
  // The duration that `share` (0..1) of the calls do not exceed: the middle of its class, at most longest_ns.
  // 0: no calls.
  uint64_t quantile(double share) const;

  uint64_t calls;    // that have ended, with a duration
  uint64_t failed;   // of constructors, in super() or this(): they have ended without one, or are still there
  uint64_t running;  // all others
  uint64_t sum_ns;   // of `calls`
  uint64_t longest_ns;
  uint64_t of[kClasses];
};

static_assert(class_of(0) == 0 && class_of(15) == 15 && class_of(16) == 16 &&
                  class_of(UINT64_MAX) == kClasses - 1,
              "classes without gaps");

inline void Histogram::raise(uint64_t ns) {
  uint64_t before = longest_ns_.load(std::memory_order_relaxed);
  while (ns > before && !longest_ns_.compare_exchange_weak(before, ns, std::memory_order_relaxed)) {
  }
}

// Constructors that are in super() are dropped with those that failed there, and count as running afterwards.
inline void Histogram::reset() {
  auto dropped = static_cast<uint64_t>(in_super_.exchange(0, std::memory_order_relaxed));
  for (std::atomic<uint64_t>& count : counts_) dropped += count.exchange(0, std::memory_order_relaxed);
  begun_.fetch_sub(dropped, std::memory_order_relaxed);
  sum_ns_.store(0, std::memory_order_relaxed);
  longest_ns_.store(0, std::memory_order_relaxed);
}

inline void Histogram::clear() {
  reset();
  begun_.store(0, std::memory_order_relaxed);
}

inline void Counts::read(const Histogram& from) {
  longest_ns = from.longest_ns_.load(std::memory_order_relaxed);
  sum_ns = from.sum_ns_.load(std::memory_order_relaxed);
  calls = 0;
  for (uint32_t i = 0; i < kClasses; i++) {
    of[i] = from.counts_[i].load(std::memory_order_relaxed);
    calls += of[i];
  }
  const int64_t in_super = from.in_super_.load(std::memory_order_relaxed);
  const uint64_t begun = from.begun_.load(std::memory_order_relaxed);
  const auto others = static_cast<int64_t>(begun - calls) - in_super;
  failed = in_super > 0 ? static_cast<uint64_t>(in_super) : 0;
  running = others > 0 ? static_cast<uint64_t>(others) : 0;
}

inline void Counts::subtract(const Counts& before) {
  for (uint32_t i = 0; i < kClasses; i++) of[i] -= before.of[i];
  calls -= before.calls;
  sum_ns -= before.sum_ns;
}

inline uint64_t Counts::quantile(double share) const {
  if (calls == 0) return 0;
  const double exact = share * static_cast<double>(calls);
  auto rank = static_cast<uint64_t>(exact);
  if (static_cast<double>(rank) < exact || rank == 0) rank++;
  uint64_t seen = 0;
  uint32_t index = 0;
  while (index + 1 < kClasses && (seen += of[index]) < rank) index++;
  if (index + 1 == kClasses) return longest_ns;
  const uint64_t begin = class_begin(index), middle = begin + (class_end(index) - begin) / 2;
  return middle < longest_ns ? middle : longest_ns;
}

}  // namespace hprof::durations
