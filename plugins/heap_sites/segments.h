// An array that grows and never moves: each segment after the first is as large as all before it.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>

namespace hprof::sites {

template <class T, uint32_t kFirstBits, uint32_t kSegments>
class Segments {
 public:
  static constexpr uint32_t kMost = 1u << (kFirstBits + kSegments - 1);

  // Makes room for item `number`, zeroed. False: no memory, or beyond kMost. One at a time.
  bool cover(const Services& services, uint32_t number) {
    if (number >= kMost) return false;
    const uint32_t segment = segment_of(number);
    if (segments_[segment] == nullptr) segments_[segment] = services.allocate<T>(segment_size(segment));
    return segments_[segment] != nullptr;
  }
  // It was covered, and its number handed on by a release store. [any]
  T& operator[](uint32_t number) const {
    const uint32_t segment = segment_of(number);
    return segments_[segment][segment == 0 ? number : number - segment_size(segment)];
  }
  void close(const Services& services) {
    for (uint32_t i = 0; i < kSegments; i++) {
      services.release(segments_[i], segment_size(i));
      segments_[i] = nullptr;
    }
  }

 private:
  static uint32_t segment_of(uint32_t number) {
    return number < (1u << kFirstBits) ? 0 : 32u - kFirstBits - static_cast<uint32_t>(__builtin_clz(number));
  }
  static uint32_t segment_size(uint32_t segment) {
    return 1u << (segment == 0 ? kFirstBits : kFirstBits + segment - 1);
  }

  T* segments_[kSegments] = {};
};

}  // namespace hprof::sites
