// UTF-8 as hprof files hold it: plain, or Java's modified form (surrogates one by one, U+0000 as C0 80).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hprof::tool {

// The first byte that is neither form, or text.size(). Only `controls` allows control characters.
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

// Bytes of the character at text[at], which is not ASCII; 0: not UTF-8 in either form.
inline size_t character_length(std::string_view text, size_t at) {
  const auto lead = static_cast<uint8_t>(text[at]);
  const size_t length = lead >= 0xf0 && lead < 0xf5   ? 4
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                                                      : 0;
  return length != 0 && first_bad_utf8(text.substr(at, length), true) == std::min(length, text.size() - at)
             ? length
             : 0;
}

// Appends a UTF-16 code unit in Java's form.
inline void append_utf8(uint16_t unit, std::string* text) {
  const auto put = [&](unsigned lead, unsigned shift, unsigned mask) {
    text->push_back(static_cast<char>(lead | (unit >> shift & mask)));
  };
  if (unit != 0 && unit < 0x80) return put(0, 0, 0x7f);
  if (unit < 0x800) {
    put(0xc0, 6, 0x1f);
  } else {
    put(0xe0, 12, 0xf);
    put(0x80, 6, 0x3f);
  }
  put(0x80, 0, 0x3f);
}

// How many bytes at the end of the text are the beginning of an incomplete character.
inline size_t begun_utf8(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<uint8_t>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return back < length && byte < 0xf5 ? back : 0;
  }
  return 0;
}

// kLines leaves tabs and line feeds as they are.
enum PrintableForm { kOneLine, kLines };

// Escapes as \x1b what a terminal would obey, since texts of hostile files go to terminals: control
// characters, with U+0080 to U+009F, and bytes that are not UTF-8.
inline std::string printable_text(std::string_view text, PrintableForm form) {
  std::string clean;
  clean.reserve(text.size());
  const auto escape = [&](char c) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<uint8_t>(c);
    clean += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  };
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const bool spaces = form == kLines && (byte == '\n' || byte == '\t');
    const size_t length = byte < 0x80 ? 1 : character_length(text, i);
    const bool control = byte < 0x20 || byte == 0x7f ||
                         (length == 2 && byte == 0xc2 && static_cast<uint8_t>(text[i + 1]) < 0xa0);
    if (length == 0 || (control && !spaces)) {
      for (size_t end = i + (length == 0 ? 1 : length); i < end; ++i) escape(text[i]);
    } else {
      clean.append(text.substr(i, length));
      i += length;
    }
  }
  return clean;
}
inline std::string printable(std::string_view text) { return printable_text(text, kOneLine); }

}  // namespace hprof::tool
