/* SPDX-License-Identifier: Apache-2.0 */
/* The context of a thread: the ids of the request that it works for, and a few labels. A tracer's unit sets it, samplers
 * add it to their events. */
#ifndef HPROF_SERVICE_CONTEXT_H
#define HPROF_SERVICE_CONTEXT_H

#include <hprof/abi.h>

#define HPROF_SERVICE_CONTEXT "hprof.context/1"

/* The most platform threads that have a context at the same time; of virtual threads eight times as many. Fewer with a low
 * max-memory=. */
#define HPROF_CONTEXT_THREADS 16384

typedef struct hprof_context {
  uint32_t size;
  /* In the form of labels=: "route:/cart;job:nightly". Strings are never freed, so there should be few different ones.
   * 0: none. */
  hprof_string_id labels;
  uint64_t trace_high, trace_low; /* the 16 bytes of the trace id as big-endian numbers; both 0: none */
  uint64_t span;                  /* the span id, likewise */
} hprof_context;

typedef struct hprof_context_service {
  uint32_t size;
  uint32_t reserved;
  /* Makes room for contexts. Until a unit has called it, nobody can set or read any. [onload] */
  hprof_status (*enable)(const hprof_host* host);
  /* Sets the context of the calling thread, in place of an earlier one; NULL: it has none. Takes no lock and allocates
   * nothing. On a virtual thread the context is the virtual thread's, on whatever carrier it is mounted. Set NULL before a
   * virtual thread ends, or its slot stays taken. HPROF_UNSUPPORTED: not enabled, a thread that the core does not know,
   * or a virtual thread of a VM that does not say which one is mounted (docs/hotspot.md, mounted-ids);
   * HPROF_DROPPED: too many threads have one; the loss has been counted. [app] */
  hprof_status (*set)(const hprof_host* host, const hprof_context* context);
  /* Copies the context of a live platform thread. It may be out of date at once, except on the thread itself, in its signal
   * handlers, too. HPROF_UNSUPPORTED: not enabled; HPROF_FAILED: the thread has none, or is just setting it.
   * [any] */
  hprof_status (*read)(const hprof_host* host, hprof_thread_serial thread, hprof_context* context);
} hprof_context_service;

#endif
