// SPDX-License-Identifier: Apache-2.0
// Converts the VM's modified UTF-8 to UTF-8.
#pragma once

#include <cstdint>

#include <hprof/cpp/out.hpp>

namespace hprof {

constexpr uint32_t kReplacementCode = 0xfffd;

// The next UTF-16 code unit, which may be half of a surrogate pair, or the code point of a sequence of four bytes. An
// invalid byte gives U+FFFD. Advances by at least one byte.
inline uint32_t next_utf8_unit(const uint8_t*& at, const uint8_t* end) {
  const uint32_t first = *at++;
  if (first < 0x80) return first;
  const auto follows = [&](int i) { return end - at > i && (at[i] & 0xc0) == 0x80; };
  if ((first & 0xe0) == 0xc0 && follows(0)) {
    return (first & 0x1f) << 6 | (*at++ & 0x3fu);
  }
  if ((first & 0xf0) == 0xe0 && follows(0) && follows(1)) {
    const uint32_t code = (first & 0x0f) << 12 | (at[0] & 0x3fu) << 6 | (at[1] & 0x3fu);
    at += 2;
    return code;
  }
  // Four bytes: never from the VM, but possible in text from agents.
  if ((first & 0xf8) == 0xf0 && follows(0) && follows(1) && follows(2)) {
    const uint32_t code = (first & 7) << 18 | (at[0] & 0x3fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
    at += 3;
    return code >= 0x10000 && code <= 0x10ffff ? code : kReplacementCode;
  }
  return kReplacementCode;
}

// The next code point, surrogate pairs joined; half of a pair alone is U+FFFD.
inline uint32_t next_code(const uint8_t*& at, const uint8_t* end) {
  const uint32_t unit = next_utf8_unit(at, end);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  if (unit < 0xdc00 && at != end) {
    const uint8_t* ahead = at;
    const uint32_t low = next_utf8_unit(ahead, end);
    if (low >= 0xdc00 && low <= 0xdfff) {
      at = ahead;
      return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
  }
  return kReplacementCode;
}

// The most bytes that to_utf8 writes.
constexpr uint32_t kUtf8Most = 4;
// Writes a code point as UTF-8. Returns how many bytes.
inline uint32_t to_utf8(char* to, uint32_t code) {
  const auto tail = [&](uint32_t shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    to[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    to[0] = static_cast<char>(0xc0 | code >> 6);
    to[1] = tail(0);
    return 2;
  }
  if (code < 0x10000) {
    to[0] = static_cast<char>(0xe0 | code >> 12);
    to[1] = tail(6);
    to[2] = tail(0);
    return 3;
  }
  to[0] = static_cast<char>(0xf0 | code >> 18);
  to[1] = tail(12);
  to[2] = tail(6);
  to[3] = tail(0);
  return 4;
}

// True: control characters, line ends of any script, and characters that change the direction of text.
inline bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

inline bool is_blank(uint32_t code) {
  return code == 0x20 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200b) ||
         code == 0x202f || code == 0x205f || code == 0x3000;
}

// The most bytes that `put` of write_utf8 may write.
constexpr uint32_t kCodeMost = 12;

// Writes a text. Bytes for which is_plain(byte) is true, all of them ASCII, are copied; every other code point goes
// through put(char* to, code), which returns how many bytes it wrote. Returns how many bytes were written.
template <class IsPlain, class Put>
uint64_t write_utf8(Out& out, hprof_text text, const IsPlain& is_plain, const Put& put) {
  if (text.data == nullptr) return 0;
  const uint8_t* at = reinterpret_cast<const uint8_t*>(text.data);
  const uint8_t* const end = at + text.size;
  uint64_t size = 0;
  while (at != end && out.ok()) {
    const uint8_t* begin = at;
    while (at != end && is_plain(*at)) at++;
    out.bytes(begin, static_cast<uint64_t>(at - begin));
    size += static_cast<uint64_t>(at - begin);
    if (at == end) break;
    uint8_t* to = out.room(kCodeMost);
    if (to == nullptr) break;
    const uint32_t put_size = put(reinterpret_cast<char*>(to), next_code(at, end));
    out.advance(put_size);
    size += put_size;
  }
  return size;
}

}  // namespace hprof
