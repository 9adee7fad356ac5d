// SPDX-License-Identifier: Apache-2.0
/* The option cutoff=, as all tables take it. */
#ifndef HPROF_CPP_CUTOFF_HPP
#define HPROF_CPP_CUTOFF_HPP

#include <stdint.h>

namespace hprof {

/* The least value of a row that is shown: `cutoff` of `total`. Stored in memory, because the x87 registers of i386
 * would compare it with more digits than a double has. [any] */
inline double least_shown(double cutoff, uint64_t total) {
  const volatile double least = cutoff * static_cast<double>(total);
  return least;
}

}  // namespace hprof

#endif
