/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the agent's own, and the threads of the application. */
#ifndef HPROF_SERVICE_THREADS_H
#define HPROF_SERVICE_THREADS_H

#include <hprof/abi.h>

#define HPROF_SERVICE_THREADS "hprof.threads/1"

struct hprof_thread;
typedef struct hprof_agent_thread hprof_agent_thread;

typedef struct hprof_threads_service {
  uint32_t size;
  uint32_t reserved;
  /* Starts a daemon Java thread (RunAgentThread) that runs body(argument, jni, thread). NULL: failed. [control] */
  hprof_agent_thread* (*start)(const hprof_host* host, const char* name,
                               void (*body)(void* argument, void* jni, hprof_agent_thread* thread), void* argument);
  /* Inside the body: waits until woken, told to stop, or ns have passed. Returns 0 when told to stop. */
  uint32_t (*wait)(hprof_agent_thread* thread, uint64_t ns);
  void (*wake)(hprof_agent_thread* thread); /* [any] */
  /* Tells the body to end and waits for that, up to a deadline; frees the thread. [control] */
  hprof_status (*stop)(const hprof_host* host, hprof_agent_thread* thread);
  /* Visits the live platform threads of the application that the core knows; jthread is a JNI local reference, NULL
   * when jni is NULL. visit returns 0 to stop. [control] */
  void (*each)(const hprof_host* host, void* jni, void* argument,
               uint32_t (*visit)(void* argument, struct hprof_thread* thread, void* jthread));
  /* The serial of a live thread, virtual ones and the agent's own included; 0: the core does not know it.
   * [app][control] */
  hprof_thread_serial (*serial_of)(const hprof_host* host, void* jthread);
  /* Gives up the processor for about ns, so that the owner of what the caller waits for can run, even with a lower
   * priority on a single processor. [app][control] */
  void (*pause)(const hprof_host* host, uint64_t ns);
} hprof_threads_service;

#endif
