// 64-bit hashes for tables. Not for files and not against an adversary: a table that is fed collisions
// becomes slow, never wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hprof {

// Spreads every bit of the input over all bits of the result, one to one (the finalizer of MurmurHash3).
constexpr uint64_t mix64(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  x ^= x >> 33;
  return x;
}

constexpr uint64_t hash_pair(uint64_t a, uint64_t b) { return mix64(mix64(a) + 0x9e3779b97f4a7c15ull + b); }

// Hash of `size` bytes, eight at a time; depends on the byte order of the machine. [any]
inline uint64_t hash_bytes(const void* bytes, size_t size, uint64_t seed = 0) {
  const unsigned char* at = static_cast<const unsigned char*>(bytes);
  uint64_t hash = seed ^ (size * 0x9e3779b97f4a7c15ull);
  uint64_t word;
  while (size >= 8) {
    memcpy(&word, at, 8);
    hash = (hash ^ word) * 0x9fb21c651e98df25ull;
    hash ^= hash >> 32;
    at += 8;
    size -= 8;
  }
  word = 0;
  if (size) memcpy(&word, at, size);
  return mix64(hash ^ word);
}

}  // namespace hprof
