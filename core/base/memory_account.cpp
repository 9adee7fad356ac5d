#include "core/base/memory_account.h"

#include <cstring>

namespace hprof {

void MemoryAccount::open(const MemorySource& source, uint64_t budget) {
  source_ = source;
  budget_ = budget ? budget : UINT64_MAX;
}

bool MemoryAccount::open_fixed(const MemorySource& source, uint64_t bytes, void (*pause)()) {
  open(source, bytes);
  void* block =
      bytes != 0 && bytes <= SIZE_MAX ? source.allocate_zeroed(static_cast<size_t>(bytes)) : nullptr;
  if (block == nullptr) return false;
  // Touches each page, so that the memory is really there.
  memset(block, 0, static_cast<size_t>(bytes));
  pool_.open(block, static_cast<size_t>(bytes), pause);
  return true;
}

void MemoryAccount::close_fixed() {
  if (!is_fixed()) return;
  void* block = pool_.block();
  pool_.close();
  source_.deallocate(block);
}

void MemoryAccount::lift() {
  if (is_fixed() || lifted_ != 0) return;
  lifted_ = budget_;
  budget_ = UINT64_MAX;
}

bool MemoryAccount::settle() {
  if (lifted_ == 0) return false;
  budget_ = lifted_;
  lifted_ = 0;
  return true;
}

uint64_t MemoryAccount::forget_peak() { return peak_.exchange(used()) - used(); }

void MemoryAccount::hold_back(uint64_t bytes) {
  if (!is_fixed()) held_back_.store(bytes, std::memory_order_relaxed);
}

void MemoryAccount::hold_for_starts(uint64_t bytes, uint64_t own) {
  if (is_fixed()) return;
  own_.store(own, std::memory_order_relaxed);
  for_starts_.store(bytes, std::memory_order_relaxed);
}

void* MemoryAccount::allocate(uint64_t bytes, Share of) {
  if (!bytes) bytes = 1;
  if (bytes > SIZE_MAX || !charge(bytes, of)) return nullptr;
  const auto size = static_cast<size_t>(bytes);
  void* block = is_fixed() ? pool_.allocate(size) : source_.allocate_zeroed(size);
  if (block != nullptr) return block;
  uncharge(bytes);
  return nullptr;
}

void MemoryAccount::release(void* block, uint64_t bytes) {
  if (!block) return;
  is_fixed() ? pool_.release(block) : source_.deallocate(block);
  uncharge(bytes ? bytes : 1);
}

void* MemoryAccount::reserve(uint64_t bytes) {
  if (!bytes || bytes > SIZE_MAX) return nullptr;
  if (is_fixed()) return allocate(bytes);
  return source_.reserve_lazy(static_cast<size_t>(bytes));
}

void MemoryAccount::unreserve(void* region, uint64_t bytes) {
  if (!region) return;
  is_fixed() ? release(region, bytes) : source_.release_lazy(region, static_cast<size_t>(bytes));
}

uint64_t MemoryAccount::kept_from(Share of) const {
  constexpr uint64_t kParts[] = {0, 8, 2};  // divisors by Share; 0: no part
  if (of == kAll) return 0;
  const uint64_t held_back = held_back_.load(std::memory_order_relaxed);
  uint64_t may_have = kParts[of] == 0 ? 0 : held_back / kParts[of];
  if (of == kStart) may_have += own_.load(std::memory_order_relaxed);
  return held_back + for_starts_.load(std::memory_order_relaxed) - may_have;
}

bool MemoryAccount::charge(uint64_t bytes, Share of) {
  const uint64_t most = budget_ - kept_from(of);
  uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > most || used > most - bytes) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  const uint64_t now = used + bytes;
  uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  return true;
}

void MemoryAccount::uncharge(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

Memory MemoryAccount::functions() {
  return {this,
          [](void* context, size_t size) { return static_cast<MemoryAccount*>(context)->allocate(size); },
          [](void* context, void* block, size_t size) {
            static_cast<MemoryAccount*>(context)->release(block, size);
          }};
}

}  // namespace hprof
