// Trace -> number of samples: an open-addressing table that only its consumer touches. No VM, no threads.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>
#include <hprof/record.h>

namespace hprof::samples {

class TraceCounts {
 public:
  static constexpr uint64_t kMostTraces = 1u << 20;  // 16 MiB of table

  // Adds to a trace's count. What has no room (no memory, or `most` traces are there already) goes to
  // overflow(). Counts stop at the top, they do not wrap. [consumer]
  void add(const Services& services, hprof_trace_serial trace, uint64_t samples);
  void clear();  // keeps the memory
  void close(const Services& services);

  uint64_t size() const { return size_; }          // traces with samples
  uint64_t overflow() const { return overflow_; }  // samples without a row of their own
  void limit(uint64_t most) { most_ = most; }

  // Writes a row per trace, in no order; `rows` has room for size().
  void copy(hprof_cpu_row* rows) const;

 private:
  struct Entry {
    uint64_t samples;
    hprof_trace_serial trace;  // 0: free
    uint32_t reserved;
  };
  static_assert(sizeof(Entry) == 16, "see kMostTraces");

  Entry* find(hprof_trace_serial trace) const;
  bool grow(const Services& services);

  Entry* entries_ = nullptr;
  uint64_t capacity_ = 0;  // a power of two
  uint64_t size_ = 0;
  uint64_t overflow_ = 0;
  uint64_t most_ = kMostTraces / 2;
};

}  // namespace hprof::samples
