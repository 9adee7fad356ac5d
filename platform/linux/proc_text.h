// Small texts of /proc, and the paths to them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof::platform {

// Reads the file into `text`, cut to `size` and terminated; returns its length, 0 if it cannot be read.
size_t read_proc_text(const char* path, char* text, size_t size);

// Puts a path together in a buffer of the caller. What does not fit makes the whole path empty, never a wrong
// one.
class ProcPath {
 public:
  ProcPath(char* text, size_t size) : text_(text), size_(size) { text_[0] = 0; }

  ProcPath& add(const char* part) {
    while (*part) put(*part++);
    return *this;
  }

  ProcPath& add(uint32_t number) {
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
