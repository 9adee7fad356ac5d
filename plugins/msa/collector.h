// The msa=y collector: the system's accounting of each thread, ended ones included.
//
// Each thread reads its own row when it ends; a report reads those of live threads. Rows of ended threads are
// appended to chunks under a short lock; a report reads as many as there were when it began.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/collector.h>
#include <hprof/cpp/lock.hpp>
#include <hprof/record.h>
#include <hprof/service/accounting.h>

namespace hprof::msa {

class Collector {
 public:
  explicit Collector(const hprof_host* host) : services_(host) {}
  // Makes the table's columns of those of the accounting service. [onload]
  hprof_status open(char* error, uint32_t error_size);
  bool close();  // [control]

  hprof_status start();
  hprof_status report(const hprof_report& report);
  void reset();
  void thread_end(void* jni, const hprof_thread* thread);

 private:
  static constexpr uint32_t kSpareRows = 16;
  static constexpr uint32_t kNameBytes = 32;
  static constexpr uint32_t kRowsOfChunk = 60;
  static constexpr uint32_t kMostChunks = 64;

  struct Row {
    uint64_t serial;  // of the thread
    uint64_t values[HPROF_ACCOUNTING_COLUMNS];
  };
  static_assert(HPROF_NOT_ACCOUNTED == static_cast<uint64_t>(-1), "a value that is not known prints as -1");
  struct Chunk {
    Row rows[kRowsOfChunk];
  };

  // The rows of a report.
  struct Rows {
    const Collector* collector;
    Row* rows;
    uint64_t room;
    uint32_t ended;  // threads that had ended before: the first rows
    uint64_t count = 0, left_out = 0;
    uint32_t known = 0;  // bit i: some thread had a value in column i
    void add(const Row& row);
    bool has(uint64_t serial, uint64_t most) const;
  };

  static uint32_t visit(void* rows, hprof_thread* thread, void* jthread);
  bool keep(const Row& row);
  const Row& ended_row(uint32_t index) const {
    return chunks_[index / kRowsOfChunk]->rows[index % kRowsOfChunk];
  }
  hprof_status say_what_is_missing(const Rows& rows);

  Services services_;
  const hprof_accounting_service* accounting_ = nullptr;
  char names_[HPROF_ACCOUNTING_COLUMNS][kNameBytes] = {};
  hprof_column schema_columns_[HPROF_ACCOUNTING_COLUMNS + 1] = {};
  hprof_table_schema schema_ = {};
  uint32_t columns_ = 0;
  uint64_t* lost_ = nullptr;
  Lock lock_;  // lock of the rows of ended threads
  Chunk* chunks_[kMostChunks] = {};
  std::atomic<uint32_t> ended_{0};
};

}  // namespace hprof::msa
