// The session's memory: the agent allocates everything through one account, which enforces max-memory=.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/memory.h"
#include "core/base/pool.h"

namespace hprof {

// The source of memory: the functions of platform/memory.h with these names. Blocks are zeroed and aligned to
// 16, regions are zeroed, aligned to a page, and cost memory only where they are touched. nullptr: there is
// none.
struct MemorySource {
  void* (*allocate_zeroed)(size_t bytes) = nullptr;
  void (*deallocate)(void* block) = nullptr;
  void* (*reserve_lazy)(size_t bytes) = nullptr;
  void (*release_lazy)(void* region, size_t bytes) = nullptr;
};

// The budget bounds the sum of allocated blocks and of the parts of regions that tables have charged.
// Thread-safe, and lock-free except for the source; not for signal handlers.
class MemoryAccount {
 public:
  constexpr MemoryAccount() = default;
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  // Before first use. budget in bytes; 0: unlimited. [onload]
  void open(const MemorySource& source, uint64_t budget);
  // As open(), but takes all memory now, in one block of `bytes` ("fixed"); reserve() takes from it, too.
  // False: no memory. pause: see Pool. [onload]
  bool open_fixed(const MemorySource& source, uint64_t bytes, void (*pause)());
  // Frees that block. No thread uses it any more. Does nothing unless fixed. [control]
  void close_fixed();
  bool is_fixed() const { return pool_.is_open(); }

  // Until settle() the budget refuses nothing, so that peak() shows what is needed. No effect if fixed. Only
  // one thread may use the account. [onload]
  void lift();
  bool settle();  // false: it was not lifted

  // Keeps the last bytes of the budget for calls with kAll. kNames may use an eighth of them, since what is
  // counted needs a name; kStart half of them, so that a report has the rest whatever a starting collector
  // takes. No effect if fixed. [control]
  void hold_back(uint64_t bytes);
  enum Share { kRest, kNames, kStart, kAll };
  // Keeps `bytes` more, from all but kAll, for collectors that have not started yet; kStart may use `own` of
  // them. No effect if fixed. [onload][control]
  void hold_for_starts(uint64_t bytes, uint64_t own);

  // A zeroed block aligned to 16; release it with the same size. nullptr: the budget or the source is
  // exhausted. 0 bytes count as 1. [onload][control][app]
  void* allocate(uint64_t bytes, Share of = kRest);
  void release(void* block, uint64_t bytes);  // nullptr: nothing

  // Address space, not charged unless fixed: its user charges what it touches (Region does).
  // [onload][control]
  void* reserve(uint64_t bytes);
  void unreserve(void* region, uint64_t bytes);  // nullptr: nothing

  // Takes bytes from the budget; false: too few are left, none were taken. [onload][control][app]
  bool charge(uint64_t bytes, Share of = kRest);
  void uncharge(uint64_t bytes);

  // allocate and release as a pair of functions, valid as long as this object.
  Memory functions();

  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  // How far the use has exceeded used() since the last call. [onload]
  uint64_t forget_peak();
  uint64_t budget() const { return budget_; }  // UINT64_MAX: unlimited

 private:
  uint64_t kept_from(Share of) const;

  MemorySource source_;
  Pool pool_;
  uint64_t budget_ = 0;
  uint64_t lifted_ = 0;  // the budget before lift()
  std::atomic<uint64_t> held_back_{0};
  std::atomic<uint64_t> for_starts_{0};
  std::atomic<uint64_t> own_{0};  // the part of for_starts_ for kStart
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> peak_{0};
};

}  // namespace hprof
