// SPDX-License-Identifier: Apache-2.0
// Numbers and short texts without printf: no locale (a decimal point stays a point), no allocation, and fast
// enough for heap dumps.
#pragma once

#include <cstdint>
#include <cstring>

#include <hprof/abi.h>

namespace hprof {

// The most characters that the functions below write.
constexpr uint32_t kNumberMost = 24;

// Decimal digits, padded with blanks on the left up to `width` (at most kNumberMost). Returns how many
// characters.
inline uint32_t format_decimal(char* to, uint64_t v, uint32_t width = 0) {
  char digits[kNumberMost];
  uint32_t n = 0;
  do {
    digits[n++] = static_cast<char>('0' + v % 10);
    v /= 10;
  } while (v != 0);
  uint32_t size = 0;
  while (size + n < width) to[size++] = ' ';
  while (n != 0) to[size++] = digits[--n];
  return size;
}

inline uint32_t format_hex(char* to, uint64_t v) {
  char digits[kNumberMost];
  uint32_t n = 0;
  do {
    digits[n++] = "0123456789abcdef"[v & 15];
    v >>= 4;
  } while (v != 0);
  uint32_t size = 0;
  while (n != 0) to[size++] = digits[--n];
  return size;
}

// A number from 0 to 1e15 with two decimals, like %5.2f: rounded to nearest, ties to even. Anything else, NaN included,
// prints as 1e15.
inline uint32_t format_fixed2(char* to, double v, uint32_t width) {
  constexpr double kMost = 1e17;
  const double scaled = v >= 0 && v * 100 < kMost ? v * 100 : kMost;
  uint64_t hundredths = static_cast<uint64_t>(scaled);
  const double rest = scaled - static_cast<double>(hundredths);
  if (rest > 0.5 || (rest == 0.5 && (hundredths & 1) != 0)) hundredths++;
  uint32_t size = format_decimal(to, hundredths / 100, width > 3 ? width - 3 : 0);
  to[size++] = '.';
  to[size++] = static_cast<char>('0' + hundredths / 10 % 10);
  to[size++] = static_cast<char>('0' + hundredths % 10);
  return size;
}

inline uint32_t format_signed(char* to, int64_t v) {
  if (v >= 0) return format_decimal(to, static_cast<uint64_t>(v));
  to[0] = '-';
  return 1 + format_decimal(to + 1, uint64_t{0} - static_cast<uint64_t>(v));
}

// Up to six decimals, in scientific notation from 1e15 on and below 1e-4: "0.5", "1.25e-7"; nan, inf, -inf.
inline uint32_t format_real(char* to, double v) {
  const auto word = [&](const char* text) {
    std::memcpy(to, text, 3);
    return 3u;
  };
  if (v != v) return word("nan");
  if (v < 0) {
    to[0] = '-';
    return 1 + format_real(to + 1, -v);
  }
  if (v > 1.7976931348623157e308) return word("inf");
  int32_t exponent = 0;
  if (v != 0 && (v >= 1e15 || v < 1e-4)) {
    // Steps of ten: slow, but without libm.
    for (; v >= 10; v /= 10) exponent++;
    for (; v < 1; v *= 10) exponent--;
  }
  uint64_t whole = static_cast<uint64_t>(v);
  uint64_t millionths = static_cast<uint64_t>((v - static_cast<double>(whole)) * 1e6 + 0.5);
  if (millionths >= 1000000) {
    whole++;
    millionths = 0;
  }
  uint32_t size = format_decimal(to, whole);
  if (millionths != 0) {
    to[size] = '.';
    for (uint32_t i = 6; i > 0; i--, millionths /= 10) to[size + i] = static_cast<char>('0' + millionths % 10);
    size += 7;
    while (to[size - 1] == '0') size--;
  }
  if (exponent == 0) return size;
  to[size++] = 'e';
  return size + format_signed(to + size, exponent);
}

// Writes \uXXXX.
inline uint32_t format_escape(char* to, uint32_t code) {
  std::memcpy(to, "\\u", 2);
  for (uint32_t i = 0; i < 4; i++) to[2 + i] = "0123456789abcdef"[code >> (12 - 4 * i) & 15];
  return 6;
}

// A NUL-terminated text that grows by pieces in a buffer of fixed size; what does not fit is left out, and cut() is true
// then. For messages and notes: its functions are not inlined, since a text calls them by the dozen.
class TextBuffer {
 public:
  TextBuffer(char* to, uint64_t size) : to_(to), room_(size) { clear(); }
  [[gnu::noinline]] TextBuffer& add(const char* text, uint64_t length) {
    const uint64_t left = room_ == 0 ? 0 : room_ - 1 - used_;
    if (length > left) {
      cut_ = true;
      length = left;
    }
    if (length != 0) std::memcpy(to_ + used_, text, length);
    used_ += length;
    if (room_ != 0) to_[used_] = 0;
    return *this;
  }
  [[gnu::noinline]] TextBuffer& add(const char* text) { return add(text, std::strlen(text)); }
  [[gnu::noinline]] TextBuffer& add(uint64_t v) {
    char digits[kNumberMost];
    return add(digits, format_decimal(digits, v));
  }
  // Appends n/10^decimals without trailing zeros: decimal(1500, 3) is "1.5".
  [[gnu::noinline]] TextBuffer& decimal(uint64_t n, uint32_t decimals) {
    uint64_t unit = 1;
    for (uint32_t i = 0; i < decimals; i++) unit *= 10;
    add(n / unit);
    uint64_t rest = n % unit;
    if (rest != 0) add(".");
    while (rest != 0) {
      unit /= 10;
      add(rest / unit);
      rest %= unit;
    }
    return *this;
  }
  // Appends a share as tables print it, ties to even: "12.50%".
  [[gnu::noinline]] TextBuffer& percent(uint64_t part, uint64_t whole) {
    if (whole == 0) whole = 1;
    uint64_t hundredths = part * 10000 / whole;
    const uint64_t rest = part * 10000 % whole * 2;
    if (rest > whole || (rest == whole && (hundredths & 1) != 0)) hundredths++;
    const char decimals[] = {static_cast<char>('0' + hundredths / 10 % 10), static_cast<char>('0' + hundredths % 10),
                             '%'};
    return add(hundredths / 100).add(".").add(decimals, sizeof decimals);
  }
  // Appends seconds, with milliseconds: "1.5 s".
  [[gnu::noinline]] TextBuffer& seconds(uint64_t ns) { return decimal(ns / 1'000'000, 3).add(" s"); }

  const char* c_str() const { return room_ == 0 ? "" : to_; }
  uint64_t size() const { return used_; }
  bool cut() const { return cut_; }
  void clear() {
    used_ = 0;
    cut_ = false;
    if (room_ != 0) to_[0] = 0;
  }

 private:
  char* to_;
  uint64_t room_;
  uint64_t used_ = 0;
  bool cut_ = false;
};

// A TextBuffer with a buffer of its own, which can be passed by value.
template <uint64_t kSize>
class TextLine : public TextBuffer {
 public:
  TextLine() : TextBuffer(line_, kSize) {}
  TextLine(const TextBuffer& text) : TextLine() { add(text.c_str(), text.size()); }
  TextLine(const TextLine& text) : TextLine() { add(text.c_str(), text.size()); }
  TextLine& operator=(const TextLine&) = delete;

 private:
  char line_[kSize];
};

// Calls visit(name, value) for each "name<equals>value" of a list, such as labels=; blanks before a name are no part of it.
template <class Visit>
void each_pair(const char* list, char equals, const char* separator, const Visit& visit) {
  while (*list != 0) {
    const uint64_t size = std::strcspn(list, separator);
    const char* end = list + size;
    while (*list == ' ' && list != end) list++;
    const auto* found =
        static_cast<const char*>(std::memchr(list, equals, static_cast<uint64_t>(end - list)));
    if (found != nullptr && found != list)
      visit(hprof_text{list, static_cast<uint64_t>(found - list)},
            hprof_text{found + 1, static_cast<uint64_t>(end - found - 1)});
    list = *end != 0 ? end + 1 : end;
  }
}

}  // namespace hprof
