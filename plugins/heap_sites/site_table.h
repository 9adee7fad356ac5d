// The sites of all threads: a class and a trace, and what was freed of it.
//
// Insert-only: a site keeps its number, 1 and up, until the session ends; 0 is "no room". How much a site has
// allocated is counted by threads (thread_table.h) and added up for a report; here is what the reaper, which
// is one at a time, takes off again, and what a report has to remember.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>

#include "plugins/heap_sites/segments.h"
#include "plugins/heap_sites/spin_lock.h"

namespace hprof::sites {

struct Amount {
  uint64_t objects;
  uint64_t bytes;
};

struct Site {
  uint32_t owner;  // class serial
  uint32_t trace;
  uint32_t next;  // in its bucket
  uint32_t reserved;
  Amount freed;      // [control]
  Amount allocated;  // added up for a report [control]
  Amount before;     // allocated before the last reset [control]
  Amount untracked;  // objects whose end is not seen: they count as ended; any thread adds
  uint64_t reported_allocated, reported_live;  // objects, at the last report [control]

  Amount since() const {
    return {less(allocated.objects, before.objects), less(allocated.bytes, before.bytes)};
  }
  Amount live() const {
    Amount made = since();
    return {less(less(made.objects, freed.objects), untracked.objects),
            less(less(made.bytes, freed.bytes), untracked.bytes)};
  }
  static uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }
};

class SiteTable {
 public:
  static constexpr uint32_t kMostSites = (1u << 20) - 1;

  bool open(const Services& services, uint32_t most = kMostSites);  // false: no memory [onload]
  void close();
  // The number of a site, made if it is new; 0: no room. [app]
  uint32_t find(uint32_t owner, uint32_t trace);
  // Numbers up to this, included, are in use. [any]
  uint32_t last() const { return last_.load(std::memory_order_acquire); }
  Site& operator[](uint32_t number) const { return sites_[number]; }

 private:
  static constexpr uint32_t kBuckets = 1u << 14;

  Services services_;
  SpinLock lock_;
  Segments<Site, 7, 14> sites_;
  uint32_t* buckets_ = nullptr;
  uint32_t most_ = 0;
  std::atomic<uint32_t> last_{0};
};

}  // namespace hprof::sites
