#include "histogram.h"

namespace hprof::latency {

static_assert(class_of(0) == 0 && class_of(15) == 15 && class_of(16) == 16 &&
                  class_of(UINT64_MAX) == kClasses - 1,
              "classes without gaps");

void Histogram::raise(uint64_t ns) {
  uint64_t before = longest_ns_.load(std::memory_order_relaxed);
  while (ns > before && !longest_ns_.compare_exchange_weak(before, ns, std::memory_order_relaxed)) {
  }
}

// Constructors that are in super() are dropped with those that failed there, and count as running afterwards.
void Histogram::reset() {
  auto dropped = static_cast<uint64_t>(in_super_.exchange(0, std::memory_order_relaxed));
  for (std::atomic<uint64_t>& count : counts_) dropped += count.exchange(0, std::memory_order_relaxed);
  begun_.fetch_sub(dropped, std::memory_order_relaxed);
  sum_ns_.store(0, std::memory_order_relaxed);
  longest_ns_.store(0, std::memory_order_relaxed);
}

void Histogram::clear() {
  reset();
  begun_.store(0, std::memory_order_relaxed);
}

void Counts::read(const Histogram& from) {
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

void Counts::subtract(const Counts& before) {
  for (uint32_t i = 0; i < kClasses; i++) of[i] -= before.of[i];
  calls -= before.calls;
  sum_ns -= before.sum_ns;
}

uint64_t Counts::quantile(double share) const {
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

}  // namespace hprof::latency
