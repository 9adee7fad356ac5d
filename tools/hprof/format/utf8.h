// UTF-8 as hprof files hold it: plain, or Java's modified form (surrogates one by one, U+0000 as C0 80).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hprof::tool {

// The first byte that is neither, or text.size(). Control characters are allowed only with `controls`.
inline size_t first_bad_utf8(std::string_view text, bool controls) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0}; };
  auto follows = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  size_t i = 0;
  while (i < text.size()) {
    uint8_t c = byte(i);
    size_t length = 1;
    if (c < 0x80) {
      if (!controls && (c < 0x20 || c == 0x7f) && c != '\t') return i;
    } else if (c >= 0xc0 && c < 0xe0) {
      length = 2;
      if (c < 0xc2 && !(c == 0xc0 && byte(i + 1) == 0x80)) return i;
    } else if (c >= 0xe0 && c < 0xf0) {
      length = 3;
      if (c == 0xe0 && byte(i + 1) < 0xa0) return i;
    } else if (c >= 0xf0 && c < 0xf5) {
      length = 4;
    } else {
      return i;
    }
    for (size_t k = 1; k < length; ++k) {
      if (!follows(i + k)) return i;
    }
    i += length;
  }
  return text.size();
}

// Escapes control characters: names may come from hostile files and go to terminals.
inline std::string printable(std::string_view text) {
  std::string clean;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      clean += c;
    } else {
      constexpr char kDigits[] = "0123456789abcdef";
      clean += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return clean;
}

}  // namespace hprof::tool
