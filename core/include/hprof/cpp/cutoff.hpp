/* The option cutoff=, as all tables take it. */
#ifndef HPROF_CPP_CUTOFF_HPP
#define HPROF_CPP_CUTOFF_HPP

#include <stdint.h>

namespace hprof {

/* The least value of a row that is shown: that share of the total. Stored in memory, because x87 registers (i386) hold
 * more digits of 0.05 * 100 than 5 has. [any] */
inline double least_shown(double cutoff, uint64_t total) {
  const volatile double least = cutoff * static_cast<double>(total);
  return least;
}

}  // namespace hprof

#endif
