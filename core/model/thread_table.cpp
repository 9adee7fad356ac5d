#include "core/model/thread_table.h"

#include "core/base/atomic.h"

namespace hprof {

bool ThreadTable::create(MemoryAccount& memory, uint32_t capacity, Backing backing) {
  while (capacity & (capacity - 1)) capacity &= capacity - 1;
  if (!region_.create(memory, room(capacity), backing)) return false;
  capacity_ = capacity;
  return true;
}

void ThreadTable::destroy() {
  region_.destroy();
  capacity_ = 0;
  alive_.store(0, std::memory_order_relaxed);
  next_.store(1, std::memory_order_relaxed);
  other_.store(0, std::memory_order_relaxed);
}

ThreadSerial ThreadTable::add(const ThreadFacts& facts, bool* folded) {
  uint32_t serial = 0;
  Slot* slot = claim(&serial);
  *folded = slot == nullptr;
  if (!slot) return other();
  write(*slot, facts, serial);
  alive_.fetch_add(1, std::memory_order_relaxed);
  slot->state.store(kAlive, std::memory_order_release);
  return ThreadSerial{serial};
}

// Takes the next serial whose slot in the ring is free.
ThreadTable::Slot* ThreadTable::claim(uint32_t* serial) {
  for (uint32_t tries = 0; tries < capacity_; ++tries) {
    if (alive() >= capacity_ - capacity_ / 8) return nullptr;
    const uint64_t next = next_.fetch_add(1, std::memory_order_relaxed);
    if (next > kLast) {
      next_.fetch_sub(1, std::memory_order_relaxed);
      return nullptr;
    }
    const uint32_t index = static_cast<uint32_t>(next) & (capacity_ - 1);
    if (!region_.cover((uint64_t{index} + 1) * sizeof(Slot))) {
      if (!begin_next_lap(next)) return nullptr;
      continue;
    }
    Slot& slot = slots()[index];
    uint32_t state = slot.state.load(std::memory_order_relaxed);
    if (state != kFree && state != kEnded) continue;
    if (slot.state.compare_exchange_strong(state, kClaimed, std::memory_order_acq_rel)) {
      *serial = static_cast<uint32_t>(next);
      return &slot;
    }
  }
  return nullptr;
}

// The budget ended before the ring did: only the slots up to here can be used. False: their threads are
// alive.
bool ThreadTable::begin_next_lap(uint64_t passed) {
  const uint64_t slots_charged = region_.charged() / sizeof(Slot);
  if (alive() >= slots_charged - slots_charged / 8) return false;
  const uint64_t lap = (passed | (capacity_ - 1)) + 1;
  uint64_t next = next_.load(std::memory_order_relaxed);
  while (next < lap && !next_.compare_exchange_weak(next, lap, std::memory_order_relaxed)) {
  }
  return true;
}

void ThreadTable::write(Slot& slot, const ThreadFacts& facts, uint32_t serial) {
  slot.serial.store(0, std::memory_order_relaxed);
  store_release(&slot.info.serial, serial);
  store_release(&slot.info.flags, facts.flags);
  store_release(&slot.info.object, uint64_t{0});
  store_release(&slot.info.java_id, facts.java_id);
  store_release(&slot.info.os_id, facts.os_id);
  store_release(&slot.info.name, raw(facts.name));
  store_release(&slot.info.group, raw(facts.group));
  store_release(&slot.info.parent_group, raw(facts.parent_group));
  slot.serial.store(serial, std::memory_order_release);
}

ThreadSerial ThreadTable::other() {
  uint32_t serial = other_.load(std::memory_order_acquire);
  if (!serial) {
    const uint32_t taken = static_cast<uint32_t>(next_.fetch_add(1, std::memory_order_relaxed));
    if (other_.compare_exchange_strong(serial, taken, std::memory_order_acq_rel)) serial = taken;
  }
  return ThreadSerial{serial};
}

ThreadTable::Slot* ThreadTable::slot_of(ThreadSerial serial) const {
  if (serial == ThreadSerial::kNone || !capacity_) return nullptr;
  const uint32_t index = raw(serial) & (capacity_ - 1);
  if ((uint64_t{index} + 1) * sizeof(Slot) > region_.charged()) return nullptr;
  Slot& slot = slots()[index];
  return slot.serial.load(std::memory_order_acquire) == raw(serial) ? &slot : nullptr;
}

void ThreadTable::end(ThreadSerial serial) {
  Slot* slot = slot_of(serial);
  uint32_t state = kAlive;
  if (slot && slot->state.compare_exchange_strong(state, kEnded, std::memory_order_acq_rel)) {
    alive_.fetch_sub(1, std::memory_order_relaxed);
  }
}

void ThreadTable::set_object(ThreadSerial serial, hprof_object_id object) {
  if (Slot* slot = slot_of(serial)) store_release(&slot->info.object, object);
}

bool ThreadTable::set_name(ThreadSerial serial, StringId name) {
  Slot* slot = slot_of(serial);
  if (!slot || slot->state.load(std::memory_order_acquire) != kAlive) return false;
  if (load_acquire(&slot->info.name) == raw(name)) return false;
  store_release(&slot->info.name, raw(name));
  return true;
}

bool ThreadTable::get(ThreadSerial serial, ThreadInfo* info) const {
  *info = {};
  if (serial == ThreadSerial::kNone) return false;
  info->serial = raw(serial);
  if (is_other(serial)) return true;
  const Slot* slot = slot_of(serial);
  if (!slot) return false;
  info->flags = load_acquire(&slot->info.flags);
  info->object = load_acquire(&slot->info.object);
  info->java_id = load_acquire(&slot->info.java_id);
  info->os_id = load_acquire(&slot->info.os_id);
  info->name = load_acquire(&slot->info.name);
  info->group = load_acquire(&slot->info.group);
  info->parent_group = load_acquire(&slot->info.parent_group);
  return slot->serial.load(std::memory_order_relaxed) == raw(serial);
}

}  // namespace hprof
