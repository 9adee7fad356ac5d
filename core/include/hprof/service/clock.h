/* Clocks, in nanoseconds unless said otherwise. */
#ifndef HPROF_SERVICE_CLOCK_H
#define HPROF_SERVICE_CLOCK_H

#include <hprof/abi.h>

typedef struct hprof_clock_service {
  uint32_t size;
  uint32_t reserved;
  uint64_t (*monotonic)(const hprof_host* host);                  /* [any] */
  uint64_t (*wall_ms)(const hprof_host* host);                    /* since 1970. [any] */
  uint64_t (*thread_cpu)(const hprof_host* host, uint64_t os_id); /* CPU time used by a live thread; 0 = the calling
                                                                      thread. UINT64_MAX: not known. [any] */
  uint64_t (*process_cpu)(const hprof_host* host);                /* of all threads. [any] */
  /* Ticks of the processor's counter of time, whose rate is to be measured. 0: none that the system itself goes by. [any] */
  uint64_t (*counter)(const hprof_host* host);
} hprof_clock_service;

#endif
