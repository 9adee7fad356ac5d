// Names of output files.
#include "file_name.h"

namespace hprof::file {

namespace {

// Where ".txt" in any case begins, or the end.
uint64_t stem_length(const char* name) {
  const uint64_t length = std::strlen(name);
  if (length < 4) return length;
  const char* suffix = name + length - 4;
  const auto is = [](char c, char lower) { return c == lower || c == lower - 32; };
  return suffix[0] == '.' && is(suffix[1], 't') && is(suffix[2], 'x') && is(suffix[3], 't') ? length - 4
                                                                                            : length;
}

}  // namespace

bool insert_number(const char* name, uint64_t number, char (&to)[kNameMost]) {
  const uint64_t stem = stem_length(name);
  TextBuffer text(to, kNameMost);
  text.add(name, stem).add(".").add(number).add(name + stem);
  return !text.cut();
}

bool expand_name(const char* pattern, const NameParts& parts, char (&name)[kNameMost]) {
  char expanded[kNameMost];
  TextBuffer text(expanded, kNameMost);
  bool numbered = false;
  for (const char* at = pattern; *at != 0; at++) {
    if (*at != '%') {
      text.add(at, 1);
      continue;
    }
    switch (at[1]) {
      case 'p':
        text.add(parts.pid);
        break;
      case 't':
        text.add(parts.timestamp);
        break;
      case 'n':
        text.add(uint64_t{parts.sequence});
        numbered = true;
        break;
      case '%':
        text.add("%");
        break;
      default:
        text.add("%");
        continue;
    }
    at++;
  }
  if (text.cut()) return false;
  if (parts.sequence > 1 && !numbered && std::strncmp(expanded, "/dev/", 5) != 0) {
    return insert_number(expanded, parts.sequence, name);
  }
  std::memcpy(name, expanded, text.size() + 1);
  return true;
}

}  // namespace hprof::file
