#include "contention_table.h"

#include <algorithm>
#include <initializer_list>

#include <hprof/cpp/cutoff.hpp>

namespace hprof::monitor {

static uint64_t saturating_add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

bool ContentionTable::open(const Services& services) {
  for (uint32_t rows : {kRows, kFewRows}) {
    rows_ = services.allocate<Row>(uint64_t{kShards} * rows);
    if (rows_ == nullptr) continue;
    rows_per_shard_ = rows;
    return true;
  }
  return false;
}

void ContentionTable::close(const Services& services) {
  services.release(rows_, uint64_t{kShards} * rows_per_shard_);
  rows_ = nullptr;
  rows_per_shard_ = 0;
}

bool ContentionTable::add(hprof_thread_serial thread, hprof_trace_serial trace, hprof_class_serial monitor,
                          uint64_t count, uint64_t time_ns) {
  uint64_t key = uint64_t{trace} << 32 | monitor;
  if (rows_ == nullptr || key == 0) return false;
  Row* shard = rows_ + uint64_t{thread % kShards} * rows_per_shard_;
  uint64_t at = (key * 0x9e3779b97f4a7c15ull) >> 32;
  for (uint32_t probe = 0; probe < kMostProbes; probe++, at++) {
    Row& row = shard[at & (rows_per_shard_ - 1)];
    uint64_t found = row.key.load(std::memory_order_relaxed);
    if (found == 0 && row.key.compare_exchange_strong(found, key, std::memory_order_relaxed)) found = key;
    if (found != key) continue;
    row.count.fetch_add(count, std::memory_order_relaxed);
    row.time_ns.fetch_add(time_ns, std::memory_order_relaxed);
    return true;
  }
  return false;
}

void ContentionTable::clear() {
  for (uint64_t i = 0; i < uint64_t{kShards} * rows_per_shard_; i++) {
    rows_[i].count.store(0, std::memory_order_relaxed);
    rows_[i].time_ns.store(0, std::memory_order_relaxed);
  }
}

uint64_t ContentionTable::rows_in_use() const {
  uint64_t used = 0;
  for (uint64_t i = 0; i < uint64_t{kShards} * rows_per_shard_; i++) {
    if (rows_[i].key.load(std::memory_order_relaxed) != 0) used++;
  }
  return used;
}

static bool same_place(const hprof_monitor_row& a, const hprof_monitor_row& b) {
  return a.trace == b.trace && a.monitor == b.monitor && a.label == b.label;
}

static bool place_before(const hprof_monitor_row& a, const hprof_monitor_row& b) {
  if (a.trace != b.trace) return a.trace < b.trace;
  return a.monitor != b.monitor ? a.monitor < b.monitor : a.label < b.label;
}

static uint64_t merge(MonitorRow* rows, uint64_t count) {
  std::sort(rows, rows + count, place_before);
  uint64_t merged = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (merged == 0 || !same_place(rows[merged - 1], rows[i])) {
      rows[merged++] = rows[i];
      continue;
    }
    MonitorRow& into = rows[merged - 1];
    into.count = saturating_add(into.count, rows[i].count);
    into.time_ns = saturating_add(into.time_ns, rows[i].time_ns);
  }
  return merged;
}

bool HasMoreTime::operator()(const hprof_monitor_row& a, const hprof_monitor_row& b) const {
  return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : place_before(a, b);
}

void ContentionRows::add(const hprof_monitor_row& row) {
  contentions_ = saturating_add(contentions_, row.count);
  total_ns_ = saturating_add(total_ns_, row.time_ns);
  rows_.add({row, 0});
}

uint64_t ContentionRows::rank(double cutoff) {
  MonitorRow* rows = rows_.data();
  const uint64_t count = merge(rows, rows_.size());
  std::sort(rows, rows + count, HasMoreTime());
  uint64_t kept = 0;
  const double least = least_shown(cutoff, total_ns_);
  while (kept < count && static_cast<double>(rows[kept].time_ns) >= least) kept++;
  return kept;
}

}  // namespace hprof::monitor
