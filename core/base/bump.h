// Append-only storage for any number of threads: allocations never move and live until destroy().
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/region.h"

namespace hprof {

// Protocol: `next_` is the offset of the first free byte; the thread that moves it by compare-and-swap owns
// the bytes in between. give_back() moves it back with release, so the next owner (acquire) writes after the
// previous one. The thread that publishes a pointer makes the contents visible.
class Bump {
 public:
  constexpr Bump() = default;

  // False: no memory; nothing is held. [onload][control]
  bool create(MemoryAccount& memory, uint64_t bytes, Backing backing) {
    next_.store(0, std::memory_order_relaxed);
    return region_.create(memory, bytes, backing);
  }
  void destroy() { region_.destroy(); }  // [control]

  // Aligned to `align`, a power of two up to 16. Zeroed, unless give_back() has taken those bytes back
  // before. nullptr: full, or the budget is used up. Lock-free. [onload][control][app]
  void* allocate(uint64_t bytes, uint64_t align = 8) {
    uint64_t next = next_.load(std::memory_order_relaxed);
    for (;;) {
      const uint64_t start = (next + align - 1) & ~(align - 1);
      if (bytes > region_.size() || start > region_.size() - bytes || !region_.cover(start + bytes))
        return nullptr;
      if (next_.compare_exchange_weak(next, start + bytes, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return region_.base() + start;
      }
    }
  }

  // Takes back a block that no other thread has seen, if it still is the last; otherwise its bytes stay
  // unused.
  void give_back(void* block, uint64_t bytes) {
    const uint64_t start = static_cast<uint64_t>(static_cast<unsigned char*>(block) - region_.base());
    uint64_t end = start + bytes;
    next_.compare_exchange_strong(end, start, std::memory_order_release, std::memory_order_relaxed);
  }

 private:
  Region region_;
  std::atomic<uint64_t> next_{0};
};

}  // namespace hprof
