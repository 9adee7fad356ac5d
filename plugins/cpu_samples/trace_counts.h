// Counts of samples by trace. One consumer at a time. No VM.
#pragma once

#include <cstdint>

#include <hprof/cpp/hash_table.hpp>
#include <hprof/tables.h>

namespace hprof::samples {

class TraceCounts {
 public:
  static constexpr uint64_t kMostSlots = 1u << 20;  // 16 MiB of table

  // Adds to a trace's count. Samples for which there is no row (no memory, or too many traces) go to
  // overflow(). Counts saturate. [consumer]
  void add(const Services& services, hprof_trace_serial trace, uint64_t samples) {
    const bool is_open = counts_.is_open() || counts_.open(services, kFirstSlots, kMostSlots);
    uint64_t* count = is_open ? counts_.make(trace) : nullptr;
    if (count == nullptr) count = &overflow_;
    *count = *count > UINT64_MAX - samples ? UINT64_MAX : *count + samples;
  }
  void clear() {  // keeps the memory
    counts_.clear();
    overflow_ = 0;
  }
  void close() {
    counts_.close();
    overflow_ = 0;
  }

  uint64_t size() const { return counts_.size(); }  // traces with samples
  uint64_t overflow() const { return overflow_; }   // samples without a row of their own

  // Writes a row per trace, in no order; `rows` has room for size().
  void copy(hprof_cpu_row* rows) const {
    counts_.each([&](uint64_t trace, uint64_t count) { *rows++ = {count, 0, trace}; });
  }

 private:
  static constexpr uint64_t kFirstSlots = 1024;

  HashTable<uint64_t, Growth::kMoves> counts_;
  uint64_t overflow_ = 0;
};

}  // namespace hprof::samples
