// Where compiled methods lie: address -> jmethodID. The VM's threads add, the book's consumer looks up.
//
// Additions are put down in order under a short lock; the consumer merges them into a sorted table when it
// looks something up. Code space is used again: a newer range replaces what it overlaps, so nothing needs to
// be taken out.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/services.hpp>

namespace hprof::samples {

class CodeMap {
 public:
  static constexpr uint64_t kMostPending = 1u << 16;
  static constexpr uint64_t kMostRanges = 1u << 20;

  hprof_status open(const Services& services);  // again: keeps what is known [control]
  void close(const Services& services);         // what is added later is refused [control]

  // False: no room until the consumer merges. [app]
  bool add(uint64_t address, uint64_t size, void* method);
  // The method whose code is at `address`, null: none that is known. [consumer]
  void* find(const Services& services, uint64_t address);
  // Makes room for additions; find does it as well. [consumer]
  void merge(const Services& services);
  bool wants_merge() const { return pending_count_.load(std::memory_order_relaxed) > kMostPending / 2; }
  uint64_t size() const { return count_; }

 private:
  struct Range {
    uint64_t from, to;  // to: exclusive
    void* method;
  };
  struct Added {
    Range range;
    uint64_t order;
  };
  static uint64_t overlay(const Range* old, uint64_t old_count, const Added* added, uint64_t added_count,
                          Range* to);
  uint64_t take_pending(Added* to, uint64_t room);

  std::atomic<uint32_t> lock_{0};
  std::atomic<uint64_t> pending_count_{0};
  Range* pending_ = nullptr;  // kMostPending, memory as it is used
  Range* ranges_ = nullptr;   // sorted, disjoint
  uint64_t count_ = 0;
  uint64_t room_ = 0;
};

}  // namespace hprof::samples
