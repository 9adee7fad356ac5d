/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * The tables of events that the unit vm_events emits, and their rows as structs: the members are the columns in their
 * order.
 */
#ifndef HPROF_DRAFT_VM_EVENTS_H
#define HPROF_DRAFT_VM_EVENTS_H

#include <hprof/record.h>

/* A thread of the program starts or ends; virtual threads are left out. */
#define HPROF_TABLE_THREAD_EVENTS "hprof.draft.thread_events/1"
typedef struct hprof_thread_event {
  uint64_t at_ns;
  uint64_t thread; /* hprof_thread_serial */
  uint64_t starts; /* 1: it starts; 0: it ends */
} hprof_thread_event;

/* The collector stopped the program. */
#define HPROF_TABLE_PAUSE_EVENTS "hprof.draft.pause_events/1"
typedef struct hprof_pause_event {
  uint64_t at_ns; /* when it was over */
  uint64_t time_ns;
  uint64_t number; /* 1 for the first */
} hprof_pause_event;

/* Once a second: CPU time of the process, and of the machine. */
#define HPROF_TABLE_LOAD_EVENTS "hprof.draft.load_events/1"
typedef struct hprof_load_event {
  uint64_t at_ns;
  uint64_t elapsed_ns, cpu_ns; /* since the event before */
  uint64_t processors;         /* that the VM may use */
  uint64_t busy, all;          /* CPU time of the machine's processors, in any unit; all 0: not known */
} hprof_load_event;

/* At most once a second, after pauses: the heap, as java.lang.Runtime has it. */
#define HPROF_TABLE_HEAP_EVENTS "hprof.draft.heap_events/1"
typedef struct hprof_heap_event {
  uint64_t at_ns;
  uint64_t used_bytes, committed_bytes, most_bytes;
  uint64_t number; /* of the last pause */
} hprof_heap_event;

#endif
