// SPDX-License-Identifier: Apache-2.0
// A set of ids, a bit each: what an encoder has already written of a document.
#pragma once

#include <hprof/cpp/lazy_table.hpp>

namespace hprof {

// Ids below 2^24, which is more than the agent's tables have. One thread at a time.
class WrittenNumbers {
 public:
  // False: no memory. [onload][control]
  bool open(const Services& services) { return words_.open(services, kMost / 64); }
  void close() { words_.close(); }
  void clear() {
    if (covered_ != 0) std::memset(words_.data(), 0, covered_ * sizeof(uint64_t));
  }
  enum class Added { kNew,
                     kKnown,
                     kNoRoom };
  Added add(uint32_t number) {
    if (!words_.cover(number / 64 + 1)) return Added::kNoRoom;
    if (covered_ <= number / 64) covered_ = number / 64 + 1;
    const uint64_t bit = uint64_t{1} << number % 64;
    uint64_t& word = words_[number / 64];
    if ((word & bit) != 0) return Added::kKnown;
    word |= bit;
    return Added::kNew;
  }

 private:
  static constexpr uint64_t kMost = uint64_t{1} << 24;
  LazyTable<uint64_t> words_;
  uint64_t covered_ = 0;  // words
};

}  // namespace hprof
