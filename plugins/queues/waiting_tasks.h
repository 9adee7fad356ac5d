// The tasks that wait, by identity hash. Those of the same hash, and a task that was submitted more than
// once, begin in the order in which they were submitted: so counts are exact, and no task is kept alive.
#pragma once

#include <hprof/cpp/entry_pool.hpp>
#include <hprof/cpp/histogram.hpp>
#include <hprof/cpp/lock.hpp>

namespace hprof::queues {

using durations::Histogram;

struct Task {
  uint32_t hash;      // by which it is found
  uint32_t own_hash;  // the other may be that of a thread pool's worker
  uint32_t executor;  // its number
  int64_t since;      // System.nanoTime(), or when it is due
  Histogram* histogram;
};

class WaitingTasks {
 public:
  static constexpr uint32_t kBuckets = 1u << 14;

  bool open(const Services& services);  // false: no memory [onload]
  void close();
  // False: too many wait, or no memory. [app]
  bool add(const Task& task);
  bool has(uint32_t hash);  // [app]
  // Removes the first, or the last, of that hash. False: there is none. [app]
  bool take(uint32_t hash, bool last, Task* task);

 private:
  struct Entry : PooledEntry {
    Task task;
    uint32_t next;
  };
  // With a lock of its own, so threads seldom meet.
  struct Bucket {
    Lock lock;
    uint32_t first, last;
  };
  Bucket& bucket_of(uint32_t hash) const { return buckets_[hash * 0x9e3779b1u >> 18]; }

  Services services_;
  Bucket* buckets_ = nullptr;
  EntryPool<Entry, 10, 11> entries_;  // at most a million
};

}  // namespace hprof::queues
