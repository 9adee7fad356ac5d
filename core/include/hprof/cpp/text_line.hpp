// A line of text in a fixed buffer: for messages and notes, free of locale, allocation and libstdc++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hprof {

// Appends until the buffer is full, then cuts; always NUL-terminated.
template <size_t kSize>
class TextLine {
 public:
  TextLine& text(const char* t) { return text(t, strlen(t)); }
  TextLine& text(const char* t, size_t size) {
    if (size > kSize - 1 - size_) size = kSize - 1 - size_;
    memcpy(line_ + size_, t, size);
    size_ += size;
    line_[size_] = 0;
    return *this;
  }
  TextLine& number(uint64_t n) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = static_cast<char>('0' + n % 10);
    while ((n /= 10) != 0);
    return text(digits + at, sizeof digits - at);
  }
  // n/10^decimals, without trailing zeros: decimal(1500, 3) is "1.5".
  TextLine& decimal(uint64_t n, uint32_t decimals) {
    uint64_t unit = 1;
    for (uint32_t i = 0; i < decimals; i++) unit *= 10;
    number(n / unit);
    uint64_t rest = n % unit;
    if (rest == 0) return *this;
    text(".");
    while (rest != 0) {
      unit /= 10;
      char digit = static_cast<char>('0' + rest / unit);
      text(&digit, 1);
      rest %= unit;
    }
    return *this;
  }

  const char* c_str() const { return line_; }
  size_t size() const { return size_; }
  void clear() { line_[size_ = 0] = 0; }

 private:
  char line_[kSize] = {};
  size_t size_ = 0;
};

}  // namespace hprof
