// Small texts of /proc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof::platform {

// Reads the file into `text`, cut to `size` and terminated; returns its length, 0 if it cannot be read.
size_t read_proc_text(const char* path, char* text, size_t size);

// The decimal number at `text`, after blanks; *end: its end, or `text` if there is none. Not strtoull, which
// newer C libraries map to a symbol that older ones and musl lack. [any]
inline uint64_t proc_number(const char* text, const char** end = nullptr) {
  const char* at = text;
  while (*at == ' ' || *at == '\t') ++at;
  const char* digits = at;
  uint64_t number = 0;
  for (; *at >= '0' && *at <= '9'; ++at) number = number * 10 + static_cast<uint64_t>(*at - '0');
  if (end != nullptr) *end = at != digits ? at : text;
  return number;
}

}  // namespace hprof::platform
