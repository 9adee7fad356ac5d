// The memory of a table: address space reserved at once, charged to the budget (kNames) as it is used.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/memory_account.h"

namespace hprof {

// How a table gets its memory.
enum class Backing : uint32_t {
  kLazy,  // address space now, memory and budget as it is used from its start on; kFixed where memory
          // is_fixed
  kFixed  // a block of the whole size, charged at creation: nothing can be refused later
};

// Zeroed, aligned to 16, used from its start on. cover() may be called by any number of threads; a cell of
// the room is touched only after a cover() that reaches it has returned true.
//
// Protocol of `charged_`: it only grows; whoever moves it by compare-and-swap has charged exactly the
// difference before and gives it back when somebody else was first. Relaxed order is enough: it guards a sum,
// not contents.
class Region {
 public:
  constexpr Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // False: no memory; nothing is held. [onload][control]
  bool create(MemoryAccount& memory, uint64_t bytes, Backing backing);
  // Gives everything back; not created: nothing. No other thread may be using it. [control]
  void destroy();

  // Makes the first `end` bytes usable. False: beyond the size, or the budget is used up.
  // [onload][control][app]
  bool cover(uint64_t end) { return end <= charged_.load(std::memory_order_relaxed) || charge_up_to(end); }

  unsigned char* base() const { return base_; }
  uint64_t size() const { return size_; }
  uint64_t charged() const { return charged_.load(std::memory_order_relaxed); }

  static constexpr uint64_t kChargeStep = 64 * 1024;

 private:
  bool charge_up_to(uint64_t end);

  MemoryAccount* memory_ = nullptr;
  unsigned char* base_ = nullptr;
  uint64_t size_ = 0;
  Backing backing_ = Backing::kLazy;
  std::atomic<uint64_t> charged_{0};
};

}  // namespace hprof
