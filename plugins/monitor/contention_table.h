// Contention by trace and class. Threads add to it while they run; a report merges the shards.
//
// Sharded by thread, so that threads that contend for a monitor do not contend for its row. Rows are found by
// open addressing and never move: a thread claims a free row by writing its key with compare-and-swap, then
// adds count and time (relaxed). A reader may see the count of an addition without its time. Lock-free.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/services.hpp>
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

  uint64_t rows_in_use() const;  // at least as many as copy() writes, unless threads add meanwhile
  // Copies the rows of all shards, at most `room`, unordered. A trace and class may have several: see
  // merge_rows. [control]
  uint64_t copy(hprof_monitor_row* rows, uint64_t room) const;

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

// Merges rows with the same trace, class and label. Returns how many are left.
uint64_t merge_rows(hprof_monitor_row* rows, uint64_t count);
// Sorts by time, longest first, then by trace and class. Returns how many rows are above the cutoff (a share
// of total_ns).
uint64_t rank_rows(hprof_monitor_row* rows, uint64_t count, uint64_t total_ns, double cutoff);

uint64_t saturating_add(uint64_t a, uint64_t b);

}  // namespace hprof::monitor
