#include "core/agent/session/memory_plan.h"

#include <hprof/cpp/kept_for_reports.hpp>

#include "core/model/limits.h"
#include "platform/platform.h"

namespace hprof {

namespace {

constexpr uint64_t kMemoryStep = 1024;
constexpr uint64_t kSinkMemory = 24 * 1024;  // for sinks: names of files and hosts

// The part of a small memory for the tables of names.
uint64_t room_of_tables(uint64_t most, bool book) {
  return is_small(most) ? ModelLimits::small(part_of_tables(most), book).room() : 0;
}

}  // namespace

uint64_t kept_for_reports(uint64_t budget, uint64_t left) {
  const uint64_t part = kept_for_reports(budget);
  return part < left / 2 ? part : left / 2;
}

// The tables' room depends on max-memory=, so it is computed anew.
uint64_t least_budget(uint64_t most, uint64_t peak, uint64_t later, bool book) {
  const uint64_t others = peak + kSinkMemory - room_of_tables(most, book);
  uint64_t least = most;
  const auto fits = [&](uint64_t budget) {
    const uint64_t used = others + room_of_tables(budget, book);
    if (budget < used) return false;
    const uint64_t left = budget - used;
    return left - kept_for_reports(budget, left) >= later;
  };
  while (!fits(least)) least += kMemoryStep;
  return least;
}

MemoryAccount::Share MemoryTurn::share(bool of_vm) const {
  const uint64_t thread = thread_.load(std::memory_order_relaxed);
  if (thread == 0) return MemoryAccount::kRest;
  const bool has_turn = of_vm || thread == static_cast<uint64_t>(platform::current_thread_id());
  return has_turn ? share_.load(std::memory_order_relaxed) : MemoryAccount::kRest;
}

MemoryTurn::Hold::Hold(MemoryTurn& turn, MemoryAccount::Share share)
    : turn_(turn),
      share_before_(turn.share_.exchange(share)),
      before_(turn.thread_.exchange(static_cast<uint64_t>(platform::current_thread_id()))) {}

MemoryTurn::Hold::~Hold() {
  turn_.thread_.store(before_, std::memory_order_relaxed);
  turn_.share_.store(share_before_, std::memory_order_relaxed);
}

}  // namespace hprof
