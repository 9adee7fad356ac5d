// A line of text that owns its buffer and can be passed by value, for messages and notes; see also
// TextBuffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hprof/cpp/text.hpp>

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
    char digits[kNumberMost];
    return text(digits, format_decimal(digits, n));
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
