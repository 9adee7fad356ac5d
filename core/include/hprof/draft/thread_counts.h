/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * The exact counts of each thread, for a unit that counts a part of what a thread does. A unit that counts calls or objects
 * offers this as an extension: hprof_host.find_extension(host, "calls", HPROF_EXTENSION_THREAD_COUNTS).
 */
#ifndef HPROF_DRAFT_THREAD_COUNTS_H
#define HPROF_DRAFT_THREAD_COUNTS_H

#include <hprof/abi.h>

#define HPROF_EXTENSION_THREAD_COUNTS "hprof.draft.thread_counts/1"

/* The option that selects both units and the one that uses them. */
#define HPROF_COUNT_HELP "count calls and objects, inside of Hprof.count of hprof.jar only"

/* A count, which only grows. */
typedef struct hprof_thread_count {
  uint64_t key;             /* the same for all threads */
  uint32_t what;            /* hprof_method_id of calls, hprof_class_serial of objects */
  hprof_trace_serial trace; /* where; of objects only */
  uint64_t count;
  uint64_t bytes; /* of objects */
} hprof_thread_count;

typedef struct hprof_thread_counts {
  uint32_t size;
  uint32_t reserved;
  /* 1: counts from now on; 0: not any longer. Without effect while the unit is stopped. [app] */
  void (*run)(uint32_t on);
  /* Calls visit(argument, count) for each count that is not zero, of the calling platform thread or, all = 1, the sums of all
   * threads. Those of a thread come in the same order each time; new ones may come in between. With open() a thread has what it
   * counted since the first of its counts that are open began. What was lost for want of memory comes first, with key and what 0
   * and how much it is by now: what is between two answers is whole if both have the same. 0: no memory. [app] */
  uint32_t (*each)(void* jni, uint32_t all, void* argument, void (*visit)(void* argument, const hprof_thread_count* count));
  /* Calls visit(argument, what) for each method whose calls are counted; NULL for objects. [app] */
  void (*each_what)(void* argument, void (*visit)(void* argument, uint32_t what));
  /* 1: what the calling thread does from now on is not counted, as far as native code does it; or NULL. [app] */
  void (*hide)(void* jni, uint32_t on);
  /* 1: a count of the calling thread, with jni NULL of all, begins; 0: one ends; or NULL. Others need not be counted. [app] */
  void (*open)(void* jni, uint32_t on);
} hprof_thread_counts;

#endif
