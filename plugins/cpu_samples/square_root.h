// The root of a whole number, rounded down.
#pragma once

#include <cstdint>

namespace hprof::samples {

inline uint64_t square_root(uint64_t n) {
  uint64_t root = 0;
  for (uint64_t bit = uint64_t{1} << 31; bit != 0; bit >>= 1) {
    if ((root + bit) * (root + bit) <= n) root += bit;
  }
  return root;
}

}  // namespace hprof::samples
