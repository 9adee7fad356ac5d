// Values by identifier: open addressing in memory that doubles when it fills up. [control][heap]
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>

namespace hprof::dump {

// Value: a plain type for which zeroed memory is a value that nobody has set.
template <class Value>
class IdMap {
 public:
  bool open(const Services* services) {
    services_ = services;
    return make(kFirstSlots);
  }

  void close() {
    if (slots_ != nullptr) services_->release(slots_, count_);
    slots_ = nullptr;
    count_ = used_ = 0;
  }

  // The value of the key, made as 0, until the next call of at(); nullptr: no memory, or key 0.
  Value* at(uint64_t key) {
    if (key == 0 || (used_ >= count_ / 4 * 3 && !grow())) return nullptr;
    Slot& slot = slots_[place_of(key)];
    if (slot.key == 0) {
      used_++;
      slot.key = key;
    }
    return &slot.value;
  }

  // 0: not there.
  Value find(uint64_t key) const {
    if (key == 0) return {};
    const Slot& slot = slots_[place_of(key)];
    return slot.key == key ? slot.value : Value{};
  }

 private:
  static constexpr uint64_t kFirstSlots = 1u << 12;

  struct Slot {
    uint64_t key;
    Value value;
  };

  // Of the key, or of the free slot for it.
  uint64_t place_of(uint64_t key) const {
    uint64_t place = (key * 0x9e3779b97f4a7c15ull >> 20) & (count_ - 1);
    while (slots_[place].key != 0 && slots_[place].key != key) place = (place + 1) & (count_ - 1);
    return place;
  }

  bool make(uint64_t slots) {
    auto* memory = services_->allocate<Slot>(slots);
    if (memory == nullptr) return false;
    slots_ = memory;
    count_ = slots;
    return true;
  }

  bool grow() {
    Slot* old = slots_;
    const uint64_t old_count = count_;
    if (!make(count_ * 2)) return false;
    for (uint64_t i = 0; i < old_count; i++) {
      if (old[i].key != 0) slots_[place_of(old[i].key)] = old[i];
    }
    services_->release(old, old_count);
    return true;
  }

  const Services* services_ = nullptr;
  Slot* slots_ = nullptr;
  uint64_t count_ = 0;  // of slots, a power of two
  uint64_t used_ = 0;
};

}  // namespace hprof::dump
