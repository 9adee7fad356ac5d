#include "core/base/text_tools.h"

namespace hprof {

namespace {

constexpr size_t kLongestName = 32;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

}  // namespace

size_t find_last(Str text, char wanted) {
  for (size_t i = text.size; i > 0; --i) {
    if (text[i - 1] == wanted) return i - 1;
  }
  return text.size;
}

bool parse_decimal(Str text, uint64_t* value) {
  uint64_t sum = 0;
  for (size_t i = 0; i < text.size; ++i) {
    if (!is_digit(text[i])) return false;
    const uint64_t digit = static_cast<uint64_t>(text[i] - '0');
    if (sum > (UINT64_MAX - digit) / 10) return false;
    sum = sum * 10 + digit;
  }
  if (text.empty()) return false;
  *value = sum;
  return true;
}

TextWriter& put_size(TextWriter& writer, uint64_t bytes) {
  if (bytes < 1000) return writer.put_unsigned(bytes).put(bytes == 1 ? " byte" : " bytes");
  const char* units = "KMGTPE";
  // Adding first would overflow.
  const auto rounded = [bytes](uint64_t unit) { return bytes / unit + (bytes % unit >= unit / 2 ? 1 : 0); };
  uint64_t scale = 1000;
  // Rounds up to the next unit instead of "1000 KB".
  while (units[1] != 0 && rounded(scale) >= 1000) {
    scale *= 1000;
    units++;
  }
  uint64_t tenths = rounded(scale / 10);
  if (tenths >= 100) {
    writer.put_unsigned(rounded(scale));
  } else {
    writer.put_unsigned(tenths / 10);
    if (tenths % 10 != 0) writer.put('.').put_unsigned(tenths % 10);
  }
  return writer.put(' ').put(*units).put('B');
}

size_t copy_text(char* array, size_t capacity, Str text) {
  return TextWriter(array, capacity).put(text).size();
}

uint32_t name_distance(Str one, Str other, uint32_t most) {
  if (one.size > kLongestName || other.size > kLongestName) return most + 1;
  // Rows of the edit-distance table: this one and the two before.
  uint32_t rows[3][kLongestName + 1];
  for (size_t j = 0; j <= other.size; ++j) rows[0][j] = static_cast<uint32_t>(j);
  for (size_t i = 1; i <= one.size; ++i) {
    uint32_t* row = rows[i % 3];
    const uint32_t* above = rows[(i - 1) % 3];
    row[0] = static_cast<uint32_t>(i);
    for (size_t j = 1; j <= other.size; ++j) {
      const bool same = lower(one[i - 1]) == lower(other[j - 1]);
      row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (same ? 0 : 1));
      const bool swapped = i > 1 && j > 1 && lower(one[i - 1]) == lower(other[j - 2]) &&
                           lower(one[i - 2]) == lower(other[j - 1]);
      if (swapped) row[j] = least(row[j], rows[(i - 2) % 3][j - 2] + 1);
    }
  }
  return least(rows[one.size % 3][other.size], most + 1);
}

}  // namespace hprof
