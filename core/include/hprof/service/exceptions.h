/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions made and caught, by probes: probes.h has the rules. NULL service: this build has no probes. */
#ifndef HPROF_SERVICE_EXCEPTIONS_H
#define HPROF_SERVICE_EXCEPTIONS_H

#include <hprof/abi.h>

#define HPROF_SERVICE_EXCEPTIONS "hprof.exceptions/1"

typedef struct hprof_exception_probes {
  uint32_t size;
  uint32_t reserved;
  void* self; /* passed to both functions, of which one may be NULL */
  /* The classes whose catch clauses report: patterns separated by ':', "com.acme.*", "com.acme.Main"; a '*' at the end
   * matches any text, and a class includes its inner classes. NULL or empty: include all, exclude none. exclude wins.
   * Both live as long as the session. */
  const char* include;
  const char* exclude;
  /* The constructor of java.lang.Throwable has run, and the exception has its stack trace; the constructors of its own
   * class have still to run. Below the agent's frames are the constructors, then the method that made it. Not reported:
   * exceptions that the VM makes without running their constructor. [app] */
  void (*made)(void* self, void* jni, void* exception);
  /* A catch clause of `method` begins. Not reported: finally clauses, exceptions caught by native code, and clauses that
   * cover their own beginning. [app] */
  void (*caught)(void* self, void* jni, void* exception, hprof_method_id method);
} hprof_exception_probes;

typedef struct hprof_exceptions_service {
  uint32_t size;
  uint32_t frames;                                                                   /* of the agent, on top of the stack in both functions */
  hprof_status (*ask)(const hprof_host* host, const hprof_exception_probes* probes); /* [onload] */
  hprof_status (*start)(const hprof_host* host);                                     /* [control] */
  void (*stop)(const hprof_host* host);                                              /* [control] */
} hprof_exceptions_service;

#endif
