// Counts of samples by trace and labels. One consumer at a time. No VM.
#pragma once

#include <cstdint>

#include <hprof/cpp/hash_table.hpp>

#include "table.h"

namespace hprof::samples {

class TraceCounts {
 public:
  static constexpr uint64_t kMostSlots = 1u << 20;  // 16 MiB of table

  // Adds to the count of a trace with these labels (0: none). Samples for which there is no row (no memory,
  // or too many traces) go to overflow(). Counts saturate. [consumer]
  void add(const Services& services, hprof_trace_serial trace, uint64_t samples, hprof_string_id labels = 0) {
    const bool is_open = counts_.is_open() || counts_.open(services, kFirstSlots, kMostSlots);
    uint64_t* count = is_open ? counts_.make(key_of(trace, labels)) : nullptr;
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

  uint64_t size() const { return counts_.size(); }  // rows with samples
  uint64_t overflow() const { return overflow_; }   // samples without a row of their own

  // Visits the rows, in no order.
  template <class Visit>
  void each(const Visit& visit) const {
    counts_.each([&](uint64_t key, uint64_t count) {
      visit(SampleRow{count, 0, key & UINT32_MAX, key >> 32});
    });
  }

 private:
  static constexpr uint64_t kFirstSlots = 1024;
  static uint64_t key_of(hprof_trace_serial trace, hprof_string_id labels) {
    return trace != 0 ? uint64_t{labels} << 32 | trace : 0;
  }

  HashTable<uint64_t, Growth::kMoves> counts_;
  uint64_t overflow_ = 0;
};

}  // namespace hprof::samples
