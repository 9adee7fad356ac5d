#include "core/model/numbered_slots.h"

namespace hprof {

bool NumberedSlots::create(MemoryAccount& memory, uint32_t capacity, uint32_t root_bits, Backing backing) {
  root_bits_ = root_bits;
  if (!region_.create(memory, room(capacity, root_bits, slot_bytes_), backing)) return false;
  if (!region_.cover(roots_bytes())) {
    region_.destroy();
    return false;
  }
  capacity_ = capacity;
  return true;
}

void NumberedSlots::destroy() {
  region_.destroy();
  capacity_ = 0;
  last_.store(0, std::memory_order_relaxed);
  free_.store(0, std::memory_order_relaxed);
}

uint32_t NumberedSlots::take() {
  uint64_t top = free_.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(top)) {
    const uint32_t id = static_cast<uint32_t>(top);
    const uint64_t below = link_of(id).load(std::memory_order_relaxed);
    const uint64_t next = ((top >> 32) + 1) << 32 | below;
    if (free_.compare_exchange_weak(top, next, std::memory_order_acquire, std::memory_order_acquire))
      return id;
  }
  uint32_t last = last_.load(std::memory_order_relaxed);
  do {
    if (last >= capacity_ || !region_.cover(roots_bytes() + (uint64_t{last} + 2) * slot_bytes_)) return 0;
  } while (!last_.compare_exchange_weak(last, last + 1, std::memory_order_relaxed));
  return last + 1;
}

void NumberedSlots::give(uint32_t id) {
  uint64_t top = free_.load(std::memory_order_relaxed);
  uint64_t next;
  do {
    link_of(id).store(static_cast<uint32_t>(top), std::memory_order_release);
    next = ((top >> 32) + 1) << 32 | id;
  } while (!free_.compare_exchange_weak(top, next, std::memory_order_release, std::memory_order_relaxed));
}

}  // namespace hprof
