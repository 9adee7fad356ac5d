/* SPDX-License-Identifier: Apache-2.0 */
/* What all processes of the machine together do. NULL service: not in this build. */
#ifndef HPROF_SERVICE_MACHINE_H
#define HPROF_SERVICE_MACHINE_H

#include <hprof/abi.h>

#define HPROF_SERVICE_MACHINE "hprof.machine/1"

typedef struct hprof_machine_service {
  uint32_t size;
  uint32_t reserved;
  /* CPU time of all processors since the system started, and how much of it they were busy, in one unit of the system's
   * own: compare two readings. 0: the system does not say. [control] */
  uint32_t (*cpu)(const hprof_host* host, uint64_t* busy, uint64_t* all);
} hprof_machine_service;

#endif
