#include "core/base/region.h"

namespace hprof {

bool Region::create(MemoryAccount& memory, uint64_t bytes, Backing backing) {
  if (memory.is_fixed()) backing = Backing::kFixed;
  void* room = backing == Backing::kFixed ? memory.allocate(bytes) : memory.reserve(bytes);
  if (!room) return false;
  memory_ = &memory;
  base_ = static_cast<unsigned char*>(room);
  size_ = bytes;
  backing_ = backing;
  charged_.store(backing == Backing::kFixed ? bytes : 0, std::memory_order_relaxed);
  return true;
}

void Region::destroy() {
  if (!base_) return;
  if (backing_ == Backing::kFixed) {
    memory_->release(base_, size_);
  } else {
    memory_->unreserve(base_, size_);
    memory_->uncharge(charged());
  }
  base_ = nullptr;
  size_ = 0;
  charged_.store(0, std::memory_order_relaxed);
}

bool Region::charge_up_to(uint64_t end) {
  if (end > size_) return false;
  uint64_t charged = charged_.load(std::memory_order_relaxed);
  while (charged < end) {
    uint64_t target = size_;
    if (end < size_ - size_ % kChargeStep) target = (end + kChargeStep - 1) / kChargeStep * kChargeStep;
    const uint64_t step = target - charged;
    if (!memory_->charge(step, MemoryAccount::kNames)) {
      // Another thread may have charged it meanwhile.
      return end <= charged_.load(std::memory_order_relaxed);
    }
    if (charged_.compare_exchange_strong(charged, target, std::memory_order_relaxed)) return true;
    memory_->uncharge(step);
  }
  return true;
}

}  // namespace hprof
