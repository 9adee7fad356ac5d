#include "file_name.h"

namespace hprof::file {

namespace {

bool ends_with(const char* name, uint64_t length, const char* suffix) {
  const uint64_t size = std::strlen(suffix);
  if (size == 0 || length < size) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  for (uint64_t i = 0; i < size; i++) {
    if (lower(name[length - size + i]) != suffix[i]) return false;
  }
  return true;
}

// The position of the format's suffix, with or without the filter's after it, or the end.
uint64_t stem_length(const char* name, const NameParts& parts) {
  const uint64_t length = std::strlen(name);
  uint64_t plain = length;
  if (ends_with(name, length, parts.filter_suffix)) plain -= std::strlen(parts.filter_suffix);
  return ends_with(name, plain, parts.format_suffix) ? plain - std::strlen(parts.format_suffix) : length;
}

}  // namespace

bool insert_number(const char* name, uint64_t number, const NameParts& parts, char (&to)[kNameMost]) {
  const uint64_t stem = stem_length(name, parts);
  TextBuffer text(to, kNameMost);
  text.add(name, stem).add(".").add(number).add(name + stem);
  return !text.cut();
}

bool insert_pid(const char* name, const NameParts& parts, char (&to)[kNameMost]) {
  if (!insert_number(name, parts.pid, parts, to)) return false;
  if (name[stem_length(name, parts)] != 0) return true;
  TextBuffer text(to + std::strlen(to), static_cast<uint32_t>(kNameMost - std::strlen(to)));
  return !text.add(parts.format_suffix).cut();
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
    return insert_number(expanded, parts.sequence, parts, name);
  }
  std::memcpy(name, expanded, text.size() + 1);
  return true;
}

}  // namespace hprof::file
