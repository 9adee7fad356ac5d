/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * Weak JNI references of a HotSpot VM: what has been verified in the running VM and is not switched off by hotspot=
 * (docs/hotspot.md). Look it up in create.
 */
#ifndef HPROF_DRAFT_WEAKS_H
#define HPROF_DRAFT_WEAKS_H

#include <hprof/abi.h>

#define HPROF_SERVICE_WEAKS "hprof.draft.weaks/1"

/* The state of one thread that reuses weak references; zeroed at first. The core may read it until the process ends:
 * never free it. */
typedef struct hprof_weak_thread {
  void* next;
  void* using_now;
  uint64_t times; /* how many references this thread has reused */
  uint32_t is_known;
  uint32_t reserved;
} hprof_weak_thread;

typedef struct hprof_weaks_service {
  uint32_t size;
  uint32_t reserved;
  /* Bit i is set when the object of weaks[i] has been collected; count is at most 64. Faster than JNI's IsSameObject
   * where possible. One thread at a time. [control] */
  uint64_t (*are_gone)(const hprof_host* host, void* jni, void* const* weaks, uint32_t count);
  /* 1: address may be used. Each call verifies that by a walk over known objects. jvmti: a jvmtiEnv with
   * can_tag_objects. [control] */
  uint32_t (*prove_addresses)(const hprof_host* host, void* jvmti, void* jni);
  /* The address of a weak global reference's object, the same as by hprof_object_offsets and in the VM's own dumps; 0:
   * it has been collected. Only after prove_addresses and while the VM is stopped, since objects move.
   * [control][heap] */
  uint64_t (*address)(const hprof_host* host, void* weak);
  /* 1: reuse works once the next collection has ended. Call it in create with jni = NULL, where it only requests its
   * events, and again in each start. [onload][control] */
  uint32_t (*open_reuse)(const hprof_host* host, void* jni);
  /* Makes `weak`, a weak global reference of the caller whose object has been collected, refer to `object`, a local
   * reference; much faster than DeleteWeakGlobalRef and NewWeakGlobalRef. 0: not done; delete `weak`. [app] */
  uint32_t (*reuse)(void* jni, void* weak, void* object, hprof_weak_thread* thread);
} hprof_weaks_service;

#endif
