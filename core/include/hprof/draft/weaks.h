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

/* What one thread needs to use weak references again; zeroed at first. The core keeps it for ever. */
typedef struct hprof_weak_thread {
  void* next;
  void* using_now;
  uint64_t times; /* that one was used again */
  uint32_t is_known;
  uint32_t reserved;
} hprof_weak_thread;

typedef struct hprof_weaks_service {
  uint32_t size;
  uint32_t reserved;
  /* Which objects of the caller's weak references, 64 at most, have been collected: a bit for each, the lowest for the
   * first. IsSameObject, or faster. One thread at a time. [control] */
  uint64_t (*are_gone)(const hprof_host* host, void* jni, void* const* weaks, uint32_t count);
  /* 1: address may be used. Each call verifies that by a walk over known objects. jvmti: a jvmtiEnv with
   * can_tag_objects. [control] */
  uint32_t (*prove_addresses)(const hprof_host* host, void* jvmti, void* jni);
  /* The address of the object of a weak global JNI reference, the same as by hprof_object_places and in the VM's own
   * dumps; 0: it has been collected. Only after prove_addresses and while the VM is stopped, since objects move.
   * [control][heap] */
  uint64_t (*address)(const hprof_host* host, void* weak);
  /* 1: reuse may be used, once the next collection has ended. In create with jni = NULL, where it only asks for the
   * events that it needs, and then in each start. [onload][control] */
  uint32_t (*open_reuse)(const hprof_host* host, void* jni);
  /* 1: the caller's weak global reference, whose object has been collected, refers to `object`, a local reference, from now
   * on. 0: it does not; give it back. Many times as fast as to give it back and to make another one. [app] */
  uint32_t (*reuse)(void* jni, void* weak, void* object, hprof_weak_thread* thread);
} hprof_weaks_service;

#endif
