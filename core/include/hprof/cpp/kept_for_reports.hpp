// SPDX-License-Identifier: Apache-2.0
/* The part of max-memory= that is kept for reports. */
#ifndef HPROF_CPP_KEPT_FOR_REPORTS_HPP
#define HPROF_CPP_KEPT_FOR_REPORTS_HPP

#include <stdint.h>

namespace hprof {

/* The bytes of max_memory that only reports and later starts may use, if so many are left when collectors start. [any] */
inline uint64_t kept_for_reports(uint64_t max_memory) {
  constexpr uint64_t kSmall = 8u << 20;
  return max_memory / (max_memory < kSmall ? 16 : 4);
}

}  // namespace hprof

#endif
