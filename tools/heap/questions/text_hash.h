// A hash of the bytes of an array, for finding equal ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hprof::tool {

// Hashes eight bytes at a time; the rest of a piece is a word of its own.
class TextHash {
 public:
  explicit TextHash(uint64_t seed) : hash_(seed ^ 0x9e3779b97f4a7c15u) {}
  void add(const uint8_t* bytes, size_t size) {
    for (; size >= 8; bytes += 8, size -= 8) {
      uint64_t word;
      std::memcpy(&word, bytes, 8);
      mix(word);
    }
    uint64_t rest = 0;
    for (size_t i = 0; i < size; ++i) rest |= uint64_t{bytes[i]} << (8 * i);
    mix(rest);
  }
  uint64_t value() const { return hash_ ^ hash_ >> 32; }

 private:
  void mix(uint64_t word) {
    hash_ = (hash_ ^ word) * 0xff51afd7ed558ccdu;
    hash_ ^= hash_ >> 33;
  }
  uint64_t hash_;
};

}  // namespace hprof::tool
