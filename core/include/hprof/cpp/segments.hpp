// SPDX-License-Identifier: Apache-2.0
// An array that grows and never moves: each segment after the first is as large as all before it.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/services.hpp>

namespace hprof {

// T: a type for which zeroed memory is valid.
template <class T, uint32_t kFirstBits, uint32_t kSegments>
class Segments {
 public:
  static constexpr uint32_t kMost = 1u << (kFirstBits + kSegments - 1);

  // Makes room for item `number`, zeroed. False: no memory, or not below kMost. [onload][control][app]
  bool cover(const UnitMemory& memory, uint32_t number) {
    if (number >= kMost) return false;
    const uint32_t segment = segment_of(number);
    if (segments_[segment].load(std::memory_order_acquire) != nullptr) return true;
    T* fresh = memory.allocate<T>(segment_size(segment));
    T* none = nullptr;
    if (fresh == nullptr) return false;
    if (!segments_[segment].compare_exchange_strong(none, fresh, std::memory_order_acq_rel))
      memory.release(fresh, segment_size(segment));
    return true;
  }
  // Item `number`, which cover() has made and a release store has published. [any]
  T& operator[](uint32_t number) const {
    const uint32_t segment = segment_of(number);
    T* items = segments_[segment].load(std::memory_order_relaxed);
    return items[segment == 0 ? number : number - segment_size(segment)];
  }
  // Frees all items, which no thread uses any more. [control]
  void close(const UnitMemory& memory) {
    for (uint32_t i = 0; i < kSegments; i++) {
      memory.release(segments_[i].load(std::memory_order_relaxed), segment_size(i));
      segments_[i].store(nullptr, std::memory_order_relaxed);
    }
  }

 private:
  static uint32_t segment_of(uint32_t number) {
    return number < (1u << kFirstBits) ? 0 : 32u - kFirstBits - static_cast<uint32_t>(__builtin_clz(number));
  }
  static uint32_t segment_size(uint32_t segment) {
    return 1u << (segment == 0 ? kFirstBits : kFirstBits + segment - 1);
  }

  std::atomic<T*> segments_[kSegments] = {};
};

}  // namespace hprof
