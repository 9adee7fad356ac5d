// Names chosen by patterns.
#pragma once

#include <string>

namespace hprof::tool {

// True: the name has the form of the pattern, where * stands for any text and ? for one character.
inline bool matches(const std::string& pattern, const std::string& name) {
  size_t at = 0, in = 0, star = std::string::npos, resume = 0;
  while (in < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resume = in;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[in])) {
      ++at;
      ++in;
    } else if (star != std::string::npos) {
      at = star + 1;
      in = ++resume;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

}  // namespace hprof::tool
