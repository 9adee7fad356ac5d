#pragma once

#include <cstddef>
#include <cstring>

namespace hprof::platform {

// Copies `from`, cut to `size` bytes and NUL-terminated; returns the length of the copy.
inline size_t copy_text(const char* from, char* text, size_t size) {
  if (!size) return 0;
  size_t length = strlen(from);
  if (length >= size) length = size - 1;
  memcpy(text, from, length);
  text[length] = 0;
  return length;
}

}  // namespace hprof::platform
