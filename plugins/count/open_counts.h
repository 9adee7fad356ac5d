// The counts that are open: what the units had counted when each began.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/services.hpp>
#include <hprof/draft/thread_counts.h>

namespace hprof::count {

// Numbers of one unit, in its order.
class Numbers {
 public:
  // False: no memory.
  bool take(const Services& services, const hprof_thread_counts& unit, void* jni, bool all);
  void close(const Services& services);
  // What is more in these than in those of before. [app]
  void subtract(const Numbers& before);
  // Of a difference: nothing was lost.
  bool is_whole() const { return size_ == 0 || rows_[0].what != 0; }

  uint64_t size() const { return size_; }
  const hprof_thread_count& operator[](uint64_t i) const { return rows_[i]; }

 private:
  void add(const hprof_thread_count& row);

  const Services* services_ = nullptr;  // during take()
  hprof_thread_count* rows_ = nullptr;
  uint64_t size_ = 0, room_ = 0;
  bool has_all_ = true;
};

// Of the units calls and heap_sites; one of them may be missing.
constexpr uint32_t kCountingUnits = 2;

struct Snapshot {
  Numbers of[kCountingUnits];

  bool take(const Services& services, const hprof_thread_counts* const* units, void* jni, bool all);
  void close(const Services& services);
};

class OpenCounts {
 public:
  static constexpr uint32_t kMost = 4096;

  // A handle above 0 for the snapshot, which is taken over; 0: too many are open. [app]
  int64_t add(const Services& services, const Snapshot& begun, bool all);
  // Removes the count with that handle. False: there is none. [app]
  bool remove(const Services& services, int64_t handle, Snapshot* begun, bool* all);
  // Removes all. No other thread is inside. [control]
  void close(const Services& services);

 private:
  struct Open {
    Snapshot begun;
    uint32_t generation;
    bool all;
  };
  static constexpr uint32_t kIndexBits = 12;
  static_assert(kMost == 1u << kIndexBits, "a handle is a generation and an index");

  // Entries are null, an Open, or taken out by the thread that ends it.
  std::atomic<Open*> open_[kMost] = {};
  std::atomic<uint32_t> last_generation_{0};
  std::atomic<uint32_t> next_{0};
};

}  // namespace hprof::count
