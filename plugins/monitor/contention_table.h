// Contention by trace and class. Threads add to it while they run; a report merges the shards.
//
// Sharded by thread, so that threads that contend for a monitor do not contend for its row. Rows are found by
// open addressing and never move: a thread claims a free row by writing its key with compare-and-swap, then
// adds count and time (relaxed). A reader may see the count of an addition without its time. Lock-free.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/report_rows.hpp>
#include <hprof/tables.h>

namespace hprof::monitor {

class ContentionTable {
 public:
  static constexpr uint32_t kShards = 8;
  static constexpr uint32_t kRows = 4096;    // per shard, 24 bytes each
  static constexpr uint32_t kFewRows = 256;  // when memory is short
  static constexpr uint32_t kMostProbes = 64;

  bool open(const Services& services);  // false: no memory [onload]
  static constexpr uint64_t kLeastMemory = uint64_t{kShards} * kFewRows * 24;
  void close(const Services& services);

  // Adds `count` contentions of `time_ns` in total. False: there is no free row. Lock-free. [app]
  bool add(hprof_thread_serial thread, hprof_trace_serial trace, hprof_class_serial monitor, uint64_t count,
           uint64_t time_ns);
  // Sets the numbers to zero; the rows stay taken. [control]
  void clear();

  uint64_t rows_in_use() const;  // at least as many as each() visits, unless threads add meanwhile
  // Visits the rows of all shards, unordered. A trace and class may have several. [control]
  template <class Visit>
  void each(const Visit& visit) const {
    for (uint64_t i = 0; i < uint64_t{kShards} * rows_per_shard_; i++) {
      const uint64_t key = rows_[i].key.load(std::memory_order_relaxed);
      const uint64_t count = rows_[i].count.load(std::memory_order_relaxed);
      const uint64_t time_ns = rows_[i].time_ns.load(std::memory_order_relaxed);
      if (key == 0 || (count == 0 && time_ns == 0)) continue;
      visit(
          hprof_monitor_row{count, time_ns, static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key), 0});
    }
  }

 private:
  struct Row {
    std::atomic<uint64_t> key;  // trace and class; 0: free
    std::atomic<uint64_t> count;
    std::atomic<uint64_t> time_ns;
  };
  static_assert(sizeof(Row) == 24, "see kRows");

  Row* rows_ = nullptr;  // shard after shard
  uint32_t rows_per_shard_ = 0;
};

// A row of a table, whose last column is there if a unit sets contexts.
using MonitorRow = tables::Labelled<hprof_monitor_row>;

// By time, longest first, then by trace and class.
struct HasMoreTime {
  bool operator()(const hprof_monitor_row& a, const hprof_monitor_row& b) const;
};

// The rows of a report. [control]
class ContentionRows {
 public:
  explicit ContentionRows(const Services& services) : rows_(services) {}
  // Room for `most` rows; with little memory for those with the most time. False: for none.
  bool open(uint64_t most) { return rows_.open(most); }
  void add(const hprof_monitor_row& row);
  // Merges rows with the same trace, class and label, and sorts them. Returns how many are above the cutoff,
  // a share of total_ns().
  uint64_t rank(double cutoff);

  MonitorRow* data() const { return rows_.data(); }
  uint64_t contentions() const { return contentions_; }  // of all that were added
  uint64_t total_ns() const { return total_ns_; }
  bool is_empty() const { return rows_.size() == 0; }
  // Rows without room, before they are merged.
  uint64_t left_out() const { return rows_.left_out(); }

 private:
  ReportRows<MonitorRow, HasMoreTime> rows_;
  uint64_t contentions_ = 0, total_ns_ = 0;
};

}  // namespace hprof::monitor
