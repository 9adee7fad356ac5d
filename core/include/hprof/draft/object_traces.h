/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * Where objects were allocated, for units that report objects (heap dumps). A unit that watches allocations offers this
 * as an extension: hprof_host.find_extension(host, NULL, HPROF_EXTENSION_OBJECT_TRACES).
 */
#ifndef HPROF_DRAFT_OBJECT_TRACES_H
#define HPROF_DRAFT_OBJECT_TRACES_H

#include <hprof/abi.h>

#define HPROF_EXTENSION_OBJECT_TRACES "hprof.draft.object_traces/1"

/* Followed objects are held by weak global JNI references: none is kept alive. */
typedef struct hprof_object_traces {
  uint32_t size;
  uint32_t reserved;
  /* Keeps every reference until end(), which the same thread calls, also those of objects that are collected meanwhile.
   * Returns how many objects are followed, collected ones included; 0: none, and end() need not be called. Objects that
   * are allocated meanwhile are added. [control] */
  uint64_t (*begin)(void);
  /* Calls visit(argument, weak, trace) for each followed object: a jweak that lives until end(), and the serial of
   * the trace in which it was allocated. An object that is being allocated may be visited twice. Between begin and end,
   * and also while the VM is stopped: it neither waits nor allocates. [control][heap] */
  void (*each)(void* argument, void (*visit)(void* argument, void* weak, hprof_trace_serial trace));
  void (*end)(void); /* [control] */
} hprof_object_traces;

#endif
