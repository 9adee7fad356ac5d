// A view of bytes with another owner, and big-endian access to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hprof {

struct Span {
  const uint8_t* data = nullptr;
  uint32_t size = 0;

  bool equals(const char* text, uint32_t length) const {
    return size == length && (length == 0 || std::memcmp(data, text, length) == 0);
  }
  bool equals(const char* text) const { return equals(text, static_cast<uint32_t>(std::strlen(text))); }
  bool equals(Span other) const {
    return size == other.size && (size == 0 || std::memcmp(data, other.data, size) == 0);
  }
};

inline Span span_of(const char* text) {
  return {reinterpret_cast<const uint8_t*>(text), static_cast<uint32_t>(std::strlen(text))};
}

inline uint16_t load_be16(const uint8_t* p) { return static_cast<uint16_t>(p[0] << 8 | p[1]); }
inline uint32_t load_be32(const uint8_t* p) {
  return static_cast<uint32_t>(p[0]) << 24 | static_cast<uint32_t>(p[1]) << 16 |
         static_cast<uint32_t>(p[2]) << 8 | p[3];
}
inline void store_be16(uint8_t* p, uint32_t value) {
  p[0] = static_cast<uint8_t>(value >> 8);
  p[1] = static_cast<uint8_t>(value);
}
inline void store_be32(uint8_t* p, uint32_t value) {
  p[0] = static_cast<uint8_t>(value >> 24);
  p[1] = static_cast<uint8_t>(value >> 16);
  p[2] = static_cast<uint8_t>(value >> 8);
  p[3] = static_cast<uint8_t>(value);
}

}  // namespace hprof
