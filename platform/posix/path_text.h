// Builds paths from texts and numbers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof::platform {

// Builds a path in the caller's buffer. If it does not fit, the path is empty, never wrong.
class PathText {
 public:
  PathText(char* text, size_t size) : text_(text), size_(size) { text_[0] = 0; }

  PathText& add(const char* part) {
    while (*part) put(*part++);
    return *this;
  }

  PathText& add(uint32_t number) {
    char digits[11];
    int at = 10;
    digits[at] = 0;
    do {
      digits[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number);
    return add(digits + at);
  }

 private:
  void put(char c) {
    if (length_ + 1 >= size_) {
      size_ = 0;
      text_[0] = 0;
      return;
    }
    text_[length_++] = c;
    text_[length_] = 0;
  }

  char* text_;
  size_t size_;
  size_t length_ = 0;
};

}  // namespace hprof::platform
