// SPDX-License-Identifier: Apache-2.0
// A table of fixed capacity. Only the part in use, from its beginning, takes memory and counts against max-memory=.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>

namespace hprof {

// T: a plain type for which zeroed memory is valid. One thread at a time.
template <class T>
class LazyTable {
 public:
  // False: no address space. [onload][control]
  bool open(const Services& services, uint64_t most) {
    memory_ = services;
    data_ = static_cast<T*>(memory_.mem->reserve(memory_.host, most * sizeof(T)));
    most_ = data_ != nullptr ? most : 0;
    return data_ != nullptr;
  }

  // Does nothing if the table is not open. [control]
  void close() {
    if (data_ == nullptr) return;
    memory_.mem->unreserve(memory_.host, data_, most_ * sizeof(T));
    if (charges()) memory_.mem->uncharge(memory_.host, charged_);
    data_ = nullptr;
    most_ = charged_ = 0;
  }

  // Makes the first `count` values usable. False: they are too many, or the budget is used up. [control][heap]
  bool cover(uint64_t count) {
    if (count > most_) return false;
    return count * sizeof(T) <= charged_ || charge(count * sizeof(T));
  }

  T* data() const { return data_; }
  T& operator[](uint64_t index) const { return data_[index]; }
  uint64_t most() const { return most_; }

 private:
  static constexpr uint64_t kStep = 64 * 1024;
  static constexpr uint64_t kLeastStep = 4 * 1024;  // where the budget has no room for a whole one

  // False: this core (1.0-rc) has no mem service with charge.
  bool charges() const {
    return HPROF_HAS(memory_.mem, hprof_mem_service, charge) &&
           HPROF_HAS(memory_.mem, hprof_mem_service, uncharge);
  }

  bool charge(uint64_t bytes) { return charge(bytes, kStep) || charge(bytes, kLeastStep); }
  bool charge(uint64_t bytes, uint64_t step) {
    uint64_t target = (bytes + step - 1) / step * step;
    if (target > most_ * sizeof(T)) target = most_ * sizeof(T);
    if (charges() && memory_.mem->charge(memory_.host, target - charged_) == 0) return false;
    charged_ = target;
    return true;
  }

  UnitMemory memory_;
  T* data_ = nullptr;
  uint64_t most_ = 0;
  uint64_t charged_ = 0;  // bytes
};

}  // namespace hprof
