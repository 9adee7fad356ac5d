// Checks for test programs without a test framework: each failure is a line on stderr, and the exit code.
#pragma once

#include <cstdio>

namespace hprof {

inline int& failed_checks() {
  static int count = 0;
  return count;
}

inline bool check(bool holds, const char* what, const char* file, int line) {
  if (!holds) {
    std::fprintf(stderr, "%s:%d: %s does not hold\n", file, line, what);
    failed_checks()++;
  }
  return holds;
}

}  // namespace hprof

// Continues after a failure; main ends with `return hprof::failed_checks() == 0 ? 0 : 1;`. True: it holds.
#define HPROF_CHECK(...) hprof::check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
