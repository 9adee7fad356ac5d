#include "name_pattern.h"

namespace hprof::samples {

// Backtracks on a mismatch: the last `*` takes one character more.
static bool covers_one(const char* pattern, const char* end, hprof_text name) {
  const char* star = nullptr;
  uint64_t at = 0, star_at = 0;
  while (at < name.size) {
    if (pattern != end && *pattern == '*') {
      star = ++pattern;
      star_at = at;
    } else if (pattern != end && *pattern == name.data[at]) {
      pattern++;
      at++;
    } else if (star != nullptr) {
      pattern = star;
      at = ++star_at;
    } else {
      return false;
    }
  }
  while (pattern != end && *pattern == '*') pattern++;
  return pattern == end;
}

bool covers(const char* pattern, hprof_text name) {
  if (pattern == nullptr || *pattern == '\0') return true;
  for (;; pattern++) {
    const char* end = pattern;
    while (*end != '\0' && *end != ':') end++;
    if (covers_one(pattern, end, name)) return true;
    if (*end == '\0') return false;
    pattern = end;
  }
}

}  // namespace hprof::samples
