// SPDX-License-Identifier: Apache-2.0
// Big-endian numbers in byte buffers, on hosts of either byte order and without alignment demands: shifts
// only.
#pragma once

#include <cstdint>
#include <cstring>

namespace hprof {

inline void put_u2(uint8_t* to, uint16_t v) {
  to[0] = static_cast<uint8_t>(v >> 8);
  to[1] = static_cast<uint8_t>(v);
}

inline void put_u4(uint8_t* to, uint32_t v) {
  put_u2(to, static_cast<uint16_t>(v >> 16));
  put_u2(to + 2, static_cast<uint16_t>(v));
}

inline void put_u8(uint8_t* to, uint64_t v) {
  put_u4(to, static_cast<uint32_t>(v >> 32));
  put_u4(to + 4, static_cast<uint32_t>(v));
}

inline uint16_t get_u2(const uint8_t* from) { return static_cast<uint16_t>(from[0] << 8 | from[1]); }
inline uint32_t get_u4(const uint8_t* from) {
  return static_cast<uint32_t>(get_u2(from)) << 16 | get_u2(from + 2);
}
inline uint64_t get_u8(const uint8_t* from) {
  return static_cast<uint64_t>(get_u4(from)) << 32 | get_u4(from + 4);
}

// Writes `count` values of `width` bytes (1, 2, 4 or 8) of this host, which need not be aligned, as big-endian.
inline void put_values(uint8_t* to, const void* values, uint64_t count, uint32_t width) {
  const uint8_t* from = static_cast<const uint8_t*>(values);
  switch (width) {
    case 1:
      std::memcpy(to, from, count);
      break;
    case 2:
      for (uint64_t i = 0; i < count; i++) {
        uint16_t v;
        std::memcpy(&v, from + 2 * i, 2);
        put_u2(to + 2 * i, v);
      }
      break;
    case 4:
      for (uint64_t i = 0; i < count; i++) {
        uint32_t v;
        std::memcpy(&v, from + 4 * i, 4);
        put_u4(to + 4 * i, v);
      }
      break;
    default:
      for (uint64_t i = 0; i < count; i++) {
        uint64_t v;
        std::memcpy(&v, from + 8 * i, 8);
        put_u8(to + 8 * i, v);
      }
  }
}

// The bits of a value of `width` bytes of this host, integer or floating-point. 0: the width is none of 1, 2, 4, 8.
inline uint64_t value_bits(const void* value, uint32_t width) {
  if (width != 1 && width != 2 && width != 4 && width != 8) return 0;
  uint8_t bytes[8] = {};
  put_values(bytes + sizeof bytes - width, value, 1, width);
  return get_u8(bytes);
}

}  // namespace hprof
