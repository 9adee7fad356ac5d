// The log of a thread: which of its counts grew since the first of the program's counts that are open in it
// began (plugins/count), and from what. Only that thread uses it.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>

#include "site_table.h"

namespace hprof::sites {

// What one thread has allocated at a site. Written by that thread only; the control thread reads `allocated`
// at any time.
struct Count {
  uint32_t site;
  uint32_t place;  // in the log, if the log has this count there
  Amount allocated;

  void add(Amount by) {
    __atomic_store_n(&allocated.objects, allocated.objects + by.objects, __ATOMIC_RELAXED);
    __atomic_store_n(&allocated.bytes, allocated.bytes + by.bytes, __ATOMIC_RELAXED);
  }
  Amount read() const {
    return {__atomic_load_n(&allocated.objects, __ATOMIC_RELAXED),
            __atomic_load_n(&allocated.bytes, __ATOMIC_RELAXED)};
  }
};

class CountLog {
 public:
  // A count of the program begins, or one ends. The log is empty when the first begins.
  void begin();
  void end() {
    if (open_ != 0) open_--;
  }
  void end_all() { open_ = 0; }
  bool is_open() const { return open_ != 0; }
  // Called before a count grows.
  void note(const Services& services, Count* count) {
    if (open_ != 0 && !has(*count)) add(services, count);
  }
  // An object has no count.
  void lose() { lost_++; }
  uint64_t lost() const { return lost_; }  // objects so far
  // Calls visit(site, amount) for each count that grew, in the order in which they grew first.
  template <class Visit>
  void each(const Visit& visit) const {
    for (uint32_t i = 0; i < size_; i++) {
      const Count& count = *grown_[i].count;
      visit(count.site, Amount{count.allocated.objects - grown_[i].before.objects,
                               count.allocated.bytes - grown_[i].before.bytes});
    }
  }
  void close(const Services& services);

 private:
  struct Grown {
    Count* count;
    Amount before;
  };
  bool has(const Count& count) const { return count.place < size_ && grown_[count.place].count == &count; }
  [[gnu::noinline]] void add(const Services& services, Count* count);

  uint32_t open_ = 0;
  uint32_t size_ = 0, room_ = 0;
  uint64_t lost_ = 0;
  Grown* grown_ = nullptr;
};

}  // namespace hprof::sites
