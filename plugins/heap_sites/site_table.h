// The sites of all threads: a class, a trace, and how much of it was freed.
//
// Insert-only, without a lock: a site keeps its number, 1 and up, until the session ends; 0 is "no room".
// Each thread counts what it has allocated at a site (allocating_threads.h), and a report adds that up; a
// site here has what the reaper subtracts, and what the last report showed.
#pragma once

#include <cstdint>

#include <hprof/cpp/entry_pool.hpp>
#include <hprof/cpp/hash_table.hpp>

namespace hprof::sites {

struct Amount {
  uint64_t objects;
  uint64_t bytes;

  void add(Amount by) {
    objects += by.objects;
    bytes += by.bytes;
  }
};

// Rounded, without its lowest bits.
inline uint64_t whole(uint64_t value, uint32_t bits) {
  return bits == 0 ? value : (value + (uint64_t{1} << (bits - 1))) >> bits;
}
inline Amount whole(Amount amount, uint32_t bits) {
  return {whole(amount.objects, bits), whole(amount.bytes, bits)};
}

struct Site : PooledEntry {
  uint32_t owner;  // class serial
  uint32_t trace;
  Amount freed;      // [control]
  Amount allocated;  // sum over the threads, for a report [control]
  Amount before;     // allocated before the last reset [control]
  Amount untracked;  // objects that are not followed, which count as freed; any thread adds
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
  using Sites = EntryPool<Site, 7, 13>;
  static constexpr uint32_t kMostSites = Sites::kMost;  // a million

  bool open(const Services& services, uint32_t most = kMostSites);  // false: no memory [onload]
  void close();
  // The number of a site, a new one if need be; 0: no room. [app]
  uint32_t find(uint32_t owner, uint32_t trace);
  // The highest number in use. [any]
  uint32_t last() const { return sites_.last(); }
  Site& operator[](uint32_t number) const { return sites_[number]; }

 private:
  static constexpr uint64_t kFirstSlots = 1u << 10;

  Services services_;
  Sites sites_;
  HashTable<std::atomic<uint32_t>, Growth::kLevels> numbers_;  // site number by class and trace
  uint32_t most_ = 0;
};

}  // namespace hprof::sites
