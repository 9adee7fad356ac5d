/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, in nanoseconds unless said otherwise. */
#ifndef HPROF_SERVICE_CLOCK_H
#define HPROF_SERVICE_CLOCK_H

#include <hprof/abi.h>

#define HPROF_SERVICE_CLOCK "hprof.clock/1"

typedef struct hprof_clock_service {
  uint32_t size;
  uint32_t reserved;
  uint64_t (*monotonic)(const hprof_host* host); /* [any] */
  /* Since 1970. [any] */
  uint64_t (*wall_ms)(const hprof_host* host);
  /* CPU time used by a live thread; 0 = the calling thread. UINT64_MAX: not known. [any] */
  uint64_t (*thread_cpu)(const hprof_host* host, uint64_t os_id);
  uint64_t (*process_cpu)(const hprof_host* host); /* Of all threads. [any] */
  /* The processor's time-stamp counter; the caller measures its rate. 0: none, or the system does not rely on it.
   * [any] */
  uint64_t (*counter)(const hprof_host* host);
  /* Seconds that local time was ahead of UTC (east of Greenwich: above 0) at a time of wall_ms. [any] but [signal] */
  int32_t (*utc_offset)(const hprof_host* host, uint64_t wall_ms);
} hprof_clock_service;

#endif
