// Further functions for Str and TextWriter (text.h).
#pragma once

#include <hprof/abi.h>

#include "core/base/text.h"

namespace hprof {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

inline bool starts_with(Str text, Str start) { return text.part(0, start.size) == start; }
inline bool ends_with(Str text, Str end) {
  return text.size >= end.size && text.part(text.size - end.size) == end;
}
// Position of the last `wanted`, or the size of the text, as Str::find answers.
size_t find_last(Str text, char wanted);

// Parses the whole text as a decimal number. False: empty, anything but digits, or too large for 64 bits.
bool parse_decimal(Str text, uint64_t* value);

// Writes "312 bytes", "12 KB", "3.4 GB": powers of 1000, one decimal below 10.
TextWriter& put_size(TextWriter& writer, uint64_t bytes);

// Copies to an array of `capacity` bytes (at least 1), NUL-terminated, cut when too long. Returns the bytes
// copied.
size_t copy_text(char* array, size_t capacity, Str text);

// The edit distance of two names, with swaps of neighbours and ignoring case; `most` + 1 if it is more. Names
// longer than 32 letters are never similar.
uint32_t name_distance(Str one, Str other, uint32_t most);

}  // namespace hprof
