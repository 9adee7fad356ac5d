/* SPDX-License-Identifier: Apache-2.0 */
/* Each new object and array, by probes: probes.h has the rules. NULL service: this build has no probes. */
#ifndef HPROF_SERVICE_ALLOCATIONS_H
#define HPROF_SERVICE_ALLOCATIONS_H

#include <hprof/abi.h>

#define HPROF_SERVICE_ALLOCATIONS "hprof.allocations/1"

/* hprof_allocation_probes.flags */
/* Without early hooks, start all the same: of classes loaded before the VM is initialised only the objects are reported,
 * not the arrays that their methods make. */
#define HPROF_ALLOCATIONS_LATE 0x1u

typedef struct hprof_allocation_probes {
  uint32_t size;
  uint32_t flags; /* HPROF_ALLOCATIONS_* */
  void* self;     /* passed to `allocated` */
  /* A new object, on the thread that made it, before any constructor but that of java.lang.Object has run. Below the
   * agent's frames are the object's constructors, if it is no array, then the method that made it. Not reported: objects
   * that native code or the VM makes without a constructor. [app] */
  void (*allocated)(void* self, void* jni, void* object);
} hprof_allocation_probes;

typedef struct hprof_allocations_service {
  uint32_t size;
  uint32_t frames;                                                                    /* of the agent, on top of the stack in `allocated`; more for the inner arrays of an array */
  hprof_status (*ask)(const hprof_host* host, const hprof_allocation_probes* probes); /* [onload] */
  hprof_status (*start)(const hprof_host* host);                                      /* [control] */
  void (*stop)(const hprof_host* host);                                               /* [control] */
} hprof_allocations_service;

#endif
