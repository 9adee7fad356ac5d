// The session's memory: everything the agent allocates goes through one account, so that max-memory= is a
// promise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/memory.h"
#include "core/base/pool.h"

namespace hprof {

// Where memory comes from: the functions of platform/memory.h with these names. Blocks are zeroed and aligned
// to 16, regions are zeroed, aligned to a page, and cost memory only where they are touched. nullptr: there
// is none.
struct MemorySource {
  void* (*allocate_zeroed)(size_t bytes) = nullptr;
  void (*deallocate)(void* block) = nullptr;
  void* (*reserve_lazy)(size_t bytes) = nullptr;
  void (*release_lazy)(void* region, size_t bytes) = nullptr;
};

// An accounted allocator. The budget bounds the sum of allocated blocks and of what tables have charged for
// the parts of their regions that they use. Thread safe and lock-free but for what the source does; not for
// signal handlers.
class MemoryAccount {
 public:
  constexpr MemoryAccount() = default;
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  // Before first use. budget in bytes; 0: unlimited. [onload]
  void open(const MemorySource& source, uint64_t budget);
  // The same, but all memory is taken now, in one block of `bytes`, and no more later: reserve() takes from
  // it, too. False: there is none. pause: see Pool. [onload]
  bool open_fixed(const MemorySource& source, uint64_t bytes, void (*pause)());
  // Gives the block back. Nobody uses it any more. Not fixed: nothing. [control]
  void close_fixed();
  bool is_fixed() const { return pool_.is_open(); }

  // Until settle(): the budget refuses nothing, so that peak() says what is needed. Fixed: nothing changes.
  // While one thread alone uses it. [onload]
  void lift();
  bool settle();  // false: it was not lifted

  // Keeps the last bytes of the budget for those who ask with kAll. kNames may have an eighth of them: what
  // is counted needs a name when all else is used up. kStart may have half of them, that a report has the
  // rest whatever a collector takes that starts. Fixed: nothing changes. [control]
  void hold_back(uint64_t bytes);
  enum Share { kRest, kNames, kStart, kAll };
  // Keeps `bytes` more, from all but kAll, for collectors that have not started yet; kStart may have `own` of
  // them. Fixed: nothing changes. [onload][control]
  void hold_for_starts(uint64_t bytes, uint64_t own);

  // A zeroed block aligned to 16; the caller releases it with the same size. nullptr: the budget or the
  // source is used up. 0 bytes count as 1. [onload][control][app]
  void* allocate(uint64_t bytes, Share of = kRest);
  void release(void* block, uint64_t bytes);  // nullptr: nothing

  // Address space, not charged unless fixed: whoever uses it charges what he touches (Region does).
  // [onload][control]
  void* reserve(uint64_t bytes);
  void unreserve(void* region, uint64_t bytes);  // nullptr: nothing

  // Takes bytes from the budget; false: not that many are left, none were taken. [onload][control][app]
  bool charge(uint64_t bytes, Share of = kRest);
  void uncharge(uint64_t bytes);

  // The same for a part that takes a pair of functions; valid as long as this object.
  Memory functions();

  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  // What was taken and given back above used() since the peak was last forgotten, which is done now. [onload]
  uint64_t forget_peak();
  uint64_t refusals() const { return refusals_.load(std::memory_order_relaxed); }
  uint64_t budget() const { return budget_; }  // UINT64_MAX: unlimited

 private:
  uint64_t kept_from(Share of) const;

  MemorySource source_;
  Pool pool_;
  uint64_t budget_ = 0;
  uint64_t lifted_ = 0;  // the budget meanwhile
  std::atomic<uint64_t> held_back_{0};
  std::atomic<uint64_t> for_starts_{0};
  std::atomic<uint64_t> own_{0};  // part of for_starts_ that kStart may have
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> peak_{0};
  std::atomic<uint64_t> refusals_{0};
};

}  // namespace hprof
