/* SPDX-License-Identifier: Apache-2.0 */
/* Each call of a method and its end, by probes: probes.h has the rules. NULL service: this build has no probes. */
#ifndef HPROF_SERVICE_CALLS_H
#define HPROF_SERVICE_CALLS_H

#include <hprof/abi.h>

#define HPROF_SERVICE_CALLS "hprof.calls/1"

typedef struct hprof_call_probes {
  uint32_t size;
  uint32_t reserved;
  void* self; /* passed to both functions */
  /* The classes whose methods report: as in hprof_exception_probes. */
  const char* include;
  const char* exclude;
  /* A method begins. The result is passed to `ends`; 0: the end is not reported. Not reported: native methods, calls on
   * virtual threads, and classes that the VM generates. [app] */
  uint64_t (*begins)(void* self, void* jni, hprof_method_id method);
  /* The call ends; by_exception = 1: by an exception. Not reported: the end of constructors that fail before super()
   * has returned, and of calls that run when the VM ends. [app] */
  void (*ends)(void* self, void* jni, uint64_t call, uint32_t by_exception);
} hprof_call_probes;

/* While a unit has asked for calls, cpu=times cannot run, and the other way round: ask answers HPROF_FAILED. */
typedef struct hprof_calls_service {
  uint32_t size;
  uint32_t frames;                                                              /* of the agent, on top of the stack in `begins`; below them is the method */
  hprof_status (*ask)(const hprof_host* host, const hprof_call_probes* probes); /* [onload] */
  hprof_status (*start)(const hprof_host* host);                                /* [control] */
  void (*stop)(const hprof_host* host);                                         /* [control] */
} hprof_calls_service;

#endif
