// What can be asked about a Str and written to a TextWriter beyond the basics.
#include "core/base/text_tools.h"

namespace hprof {

size_t find_last(Str text, char wanted) {
  for (size_t i = text.size; i > 0; --i) {
    if (text[i - 1] == wanted) return i - 1;
  }
  return text.size;
}

size_t find(Str text, Str wanted) {
  if (wanted.empty()) return 0;
  for (size_t at = text.find(wanted[0]); at < text.size; at = text.find(wanted[0], at + 1)) {
    if (starts_with(text.part(at), wanted)) return at;
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

TextWriter& put_signed(TextWriter& writer, int64_t value) {
  if (value >= 0) return writer.put_unsigned(static_cast<uint64_t>(value));
  return writer.put('-').put_unsigned(~static_cast<uint64_t>(value) + 1);
}

TextWriter& put_hex(TextWriter& writer, uint64_t value, unsigned digits) {
  char hex[16];
  size_t first = sizeof hex;
  while (first > 0 && (value || sizeof hex - first < digits || first == sizeof hex)) {
    hex[--first] = "0123456789abcdef"[value & 15];
    value >>= 4;
  }
  return writer.put(Str(hex + first, sizeof hex - first));
}

TextWriter& put_size(TextWriter& writer, uint64_t bytes) {
  if (bytes < 1000) return writer.put_unsigned(bytes).put(bytes == 1 ? " byte" : " bytes");
  const char* units = "KMGTPE";
  // Adding first would overflow.
  const auto rounded = [bytes](uint64_t unit) { return bytes / unit + (bytes % unit >= unit / 2 ? 1 : 0); };
  uint64_t scale = 1000;
  // Rounding must not end in "1000 KB".
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

}  // namespace hprof
