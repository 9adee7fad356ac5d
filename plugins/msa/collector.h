// The msa=y collector: the system's books about each thread, those that have ended included.
//
// A thread's row is read when it ends, by itself, or at the report. Rows of ended threads are appended to
// chunks under a short lock; a report reads those whose count it has seen.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/collector.h>
#include <hprof/cpp/services.hpp>
#include <hprof/record.h>
#include <hprof/service/accounting.h>

namespace hprof::msa {

class Collector {
 public:
  // Makes the record kind out of the system's columns. [onload]
  hprof_status open(const hprof_host* host);
  void close();  // [control]

  hprof_status start();
  hprof_status report();
  void reset();
  void thread_end(const hprof_thread* thread);
  const Services& services() const { return services_; }

 private:
  static constexpr uint32_t kMostFields = HPROF_ACCOUNTING_COLUMNS + 1;
  static constexpr uint32_t kNameBytes = 32;
  static constexpr uint32_t kRowsOfChunk = 60;
  static constexpr uint32_t kMostChunks = 64;
  static_assert(kMostFields <= HPROF_VENDOR_FIELDS, "a field for each column, and the thread");

  struct Row {
    hprof_thread_serial serial;
    uint64_t values[HPROF_ACCOUNTING_COLUMNS];
  };
  struct Chunk {
    Row rows[kRowsOfChunk];
  };

  static uint32_t visit(void* self, hprof_thread* thread, void* jthread);
  bool keep(const Row& row);
  hprof_status write(const Row& row);
  hprof_status say(const char* text);
  hprof_status say_what_is_missing();
  void lock();
  void unlock() { taken_.store(0, std::memory_order_release); }

  Services services_;
  const hprof_accounting_service* accounting_ = nullptr;
  char names_[HPROF_ACCOUNTING_COLUMNS][kNameBytes] = {};
  hprof_field fields_[kMostFields] = {};
  hprof_schema schema_ = {};
  uint32_t kind_ = 0;
  uint32_t columns_ = 0;
  uint32_t known_ = 0;  // bit i: some thread had a value in column i
  hprof_status status_ = HPROF_OK;
  uint64_t* lost_ = nullptr;
  std::atomic<uint32_t> taken_{0};
  Chunk* chunks_[kMostChunks] = {};
  std::atomic<uint32_t> ended_{0};
};

}  // namespace hprof::msa
