// Divides max-memory= between tables, buffers, collectors and reports.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/memory_account.h"

namespace hprof {

constexpr uint64_t kSmallBudget = 16u << 20;  // bytes; budgets up to this are allocated at the start

inline bool is_small(uint64_t max_memory) { return max_memory != 0 && max_memory <= kSmallBudget; }
inline bool is_very_small(const MemoryAccount& memory) {
  return memory.is_fixed() && memory.budget() < 4 * 1024 * 1024;
}

// The part of the memory left at the start that only reports and later starts may use.
uint64_t kept_for_reports(uint64_t budget, uint64_t left);

// The bytes of a small budget for the tables of names. [any]
inline uint64_t part_of_tables(uint64_t most) { return most / 8 * 3; }

// The least budget, at least `most`, that is enough: `peak` was needed so far, `later` bytes will be when
// collectors start. book: the tables include the method book. [onload]
uint64_t least_budget(uint64_t most, uint64_t peak, uint64_t later, bool book);

// Knows which threads may use the reserved part: the one that starts a collector or makes a report, and the
// VM's threads that walk the heap for it.
class MemoryTurn {
 public:
  // The calling thread's share. of_vm: JNI does not know it. [any] but [signal]
  MemoryAccount::Share share(bool of_vm) const;
  bool is_taken() const { return thread_.load(std::memory_order_relaxed) != 0; }

  // Held during a start of a collector, or a report. [control]
  class Hold {
   public:
    Hold(MemoryTurn& turn, MemoryAccount::Share share);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    MemoryTurn& turn_;
    MemoryAccount::Share share_before_;
    uint64_t before_;
  };

 private:
  std::atomic<uint64_t> thread_{0};
  std::atomic<MemoryAccount::Share> share_{MemoryAccount::kRest};
};

}  // namespace hprof
