/* The option cutoff=, as all tables take it. */
#ifndef HPROF_CPP_CUTOFF_HPP
#define HPROF_CPP_CUTOFF_HPP

#include <stdint.h>

namespace hprof {

/* What a row must have at least to be shown: that share of the total. In memory, because the registers of the x87 (i386)
 * hold more digits of 0.05 * 100 than 5 has. [any] */
inline double least_shown(double cutoff, uint64_t total) {
  const volatile double least = cutoff * static_cast<double>(total);
  return least;
}

}  // namespace hprof

#endif
