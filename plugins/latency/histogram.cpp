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

void Histogram::reset() {
  for (std::atomic<uint64_t>& count : counts_) count.store(0, std::memory_order_relaxed);
  running_.reset_sum();
  longest_ns_.store(0, std::memory_order_relaxed);
}

void Histogram::clear() {
  reset();
  running_.clear();
}

void Counts::read(const Histogram& from, const Ages& ages, uint64_t now) {
  longest_ns = from.longest_ns_.load(std::memory_order_relaxed);
  sum_ns = from.running_.sum_ns();
  calls = 0;
  for (uint32_t i = 0; i < kClasses; i++) {
    of[i] = from.counts_[i].load(std::memory_order_relaxed);
    calls += of[i];
  }
  running = from.running_.count(ages, now, &oldest);
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
