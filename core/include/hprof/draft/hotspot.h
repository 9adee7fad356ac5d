/*
 * Draft: may change with any release.
 *
 * Knowledge of HotSpot's internals: what has been verified in the running VM and is not switched off by hotspot=
 * (docs/hotspot.md). Every unit also works without it. A member that is NULL is not in this build.
 */
#ifndef HPROF_DRAFT_HOTSPOT_H
#define HPROF_DRAFT_HOTSPOT_H

#include <hprof/abi.h>
#include <hprof/service/ids.h>

#define HPROF_SERVICE_HOTSPOT "hprof.draft.hotspot/3"

/* --- objects ------------------------------------------------------------------------------------------------------ */

/* Eight bytes of each object that identify its class and, if length_shift is not 0, hold the length of an array. */
typedef struct hprof_object_header {
  uint32_t size;
  uint32_t class_shift;
  uint64_t class_mask;
  int64_t at;               /* where they are in the object, for hprof_bytecode_service.header_at */
  uint32_t length_shift;    /* 0: the length is not among them */
  uint32_t array_base;      /* bytes of an array before its elements */
  uint32_t alignment;       /* of objects' sizes, bytes */
  uint32_t reference_shift; /* elements that are references have 1 << reference_shift bytes */
} hprof_object_header;

/* The same for all objects of a class as long as it is loaded; another class may have it later. Not 0. [any] */
static inline uint64_t hprof_class_key(const hprof_object_header* header, uint64_t word) {
  return word >> header->class_shift & header->class_mask;
}
/* Bytes of an array with elements of 1 << element_shift bytes. Only where length_shift is not 0. [any] */
static inline uint64_t hprof_array_size(const hprof_object_header* header, uint64_t word, uint32_t element_shift) {
  const uint64_t size = header->array_base + (word >> header->length_shift << element_shift);
  return (size + header->alignment - 1) & ~(uint64_t)(header->alignment - 1);
}

/* Where to find an object's address and size: offsets in 8-byte words from the tag that JVMTI's heap callbacks get. */
typedef struct hprof_object_places {
  uint32_t size;
  int32_t object;      /* from tag_ptr: the address */
  int32_t object_size; /* from tag_ptr */
  int32_t referrer;    /* from referrer_tag_ptr, if that is not tag_ptr: the referrer's address */
} hprof_object_places;

/* [heap] */
static inline uint64_t hprof_object_address(const hprof_object_places* places, const int64_t* tag) {
  return (uint64_t)tag[places->object];
}
static inline uint32_t hprof_has_object_size(const hprof_object_places* places, const int64_t* tag, int64_t size) {
  return tag[places->object_size] == size;
}
static inline uint64_t hprof_referrer_address(const hprof_object_places* places, const int64_t* referrer_tag,
                                              const int64_t* tag) {
  return referrer_tag == tag ? hprof_object_address(places, tag) : (uint64_t)referrer_tag[places->referrer];
}

/* --- the service -------------------------------------------------------------------------------------------------- */

/* Keys of the calling thread's stack, computed without the VM: see frame_walk. */
typedef struct hprof_frame_walk hprof_frame_walk;

/* What one thread needs for it. seen, chains: seen_code_bytes and stack_chains_bytes of its own memory, zeroed at first,
 * or NULL, which is slower; chains needs seen. */
typedef struct hprof_walk_thread {
  void* seen;
  void* chains;
  void* note; /* set by walk_key */
} hprof_walk_thread;

/* Of a stack. */
#define HPROF_STACK_NOTE_BYTES 24

/* What one thread needs to use weak references again; zeroed at first. The core keeps it for ever. */
typedef struct hprof_weak_thread {
  void* next;
  void* using_now;
  uint64_t times; /* that one was used again */
  uint32_t is_known;
  uint32_t reserved;
} hprof_weak_thread;

typedef struct hprof_hotspot_service {
  uint32_t size;
  uint32_t seen_code_bytes; /* see walk_key */
  /* Copies the first `size` bytes of the value of a flag of the VM, -XX:<name>, at most as many as it has. 0: not known.
   * [onload][control] */
  uint32_t (*flag)(const hprof_host* host, const char* name, void* value, uint32_t size);
  /* Makes the VM's compilers record the position of every instruction (the flag DebugNonSafepoints) in code that they
   * compile from now on, so that stacks of interrupted code are exact. 0: not done. [onload] */
  uint32_t (*precise_code)(const hprof_host* host);
  /* The VM's AsyncGetCallTrace, which demands class load events and method ids that exist already; NULL: none. [control] */
  void* (*async_get_call_trace)(const hprof_host* host);
  /* jmethodID of the method that was compiled to the machine code at pc, NULL: none, or not known. The code must exist
   * during the call: ask on the thread that runs it, while hprof_sampling_service.install is in force. [signal] */
  void* (*compiled_method)(const hprof_host* host, uint64_t pc);
  /* NULL: see unload_count. */
  uint32_t (*watch_unloads)(const hprof_host* host, uint32_t* count);

  /* 0: not known. header->size is set by the caller. [control] */
  uint32_t (*object_header)(const hprof_host* host, hprof_object_header* header);
  /* 0: not known. places->size is set by the caller. jvmti: a jvmtiEnv with can_tag_objects. [control] */
  uint32_t (*object_places)(const hprof_host* host, void* jvmti, void* jni, hprof_object_places* places);
  /* Which objects of the caller's weak references, 64 at most, have been collected: a bit for each, the lowest for the
   * first. IsSameObject, or faster. One thread at a time. [control] */
  uint64_t (*weaks_are_gone)(const hprof_host* host, void* jni, void* const* weaks, uint32_t count);
  /* Calls made(self, jni, object, bare) for each object, array and string that native code creates through JNI from now
   * on, on the creating thread (replaces the JNI function table). bare = 1: AllocObject, no constructor has run. One
   * user; cannot be undone. 0: not done. [control] */
  uint32_t (*watch_native_objects)(const hprof_host* host,
                                   void (*made)(void* self, void* jni, void* object, uint32_t bare), void* self);
  /* Replaces the native method Unsafe.allocateInstance by one that causes no VMObjectAlloc events. Call it once, in a
   * native method called by a class of the boot loader: the VM prints a warning when others replace its natives. 0: not
   * replaced. [control] */
  uint32_t (*quiet_allocate_instance)(const hprof_host* host, void* jni);

  /* Opens the walk; one per session, never closed. Then call walk_hide for every method that may be on top of a stack
   * but belongs in no trace. NULL: not available; *why is static text. [control] */
  hprof_frame_walk* (*frame_walk)(const hprof_host* host, void* jni, const char** why);
  /* Called in a native method: the Java method that called it, or through which it was called from native code last,
   * is hidden from now on. method: its jmethodID. 0: no such frame was found; do not use the walk. [control] */
  uint32_t (*walk_hide)(hprof_frame_walk* walk, const void* jni, const void* method);
  /* What the walk has learned about code is valid while *epoch, which is never 0, stays the same: the caller changes it
   * in the event of each garbage collection, or it is collection_count, which may be 0: nothing is valid then. No effect on
   * VMs that free code at other times, too. [control] */
  void (*walk_trust_code)(hprof_frame_walk* walk, const uint32_t* epoch);
  /* A key for the frames on top of the calling thread's stack, at least `depth` frames of a trace (all, if there are
   * fewer): stacks with the same key have the same methods and lines. 0: a frame is not known. The caller checks keys
   * against the VM now and then. The thread is in a native method, or in a callback from the VM.
   * thread->note: HPROF_STACK_NOTE_BYTES for the caller, aligned to 8, which come again with each stack of that key and
   * that `what` as long as there is room for it; zeroed at first; to be used until the thread's next call. NULL: this
   * stack has no note. [app] */
  uint64_t (*walk_key)(hprof_frame_walk* walk, const void* jni, uint32_t depth, uint64_t what,
                       hprof_walk_thread* thread);
  /* The same stack from the VM, without hidden methods, innermost first. The walk learns what was inlined, and later
   * keys need fewer frames; thread->note may be NULL then. 1: more frames of this stack would tell more. [app] */
  uint32_t (*walk_learn)(hprof_frame_walk* walk, const void* jni, const hprof_raw_frame* frames, uint32_t count,
                         hprof_walk_thread* thread);
  /* A key stood for two different stacks: walk_key answers 0 from now on. [any] */
  void (*walk_distrust)(hprof_frame_walk* walk);
  /* 1: weak_address may be used. Each call verifies that by a walk over known objects. jvmti: a jvmtiEnv with
   * can_tag_objects. [control] */
  uint32_t (*weak_addresses)(const hprof_host* host, void* jvmti, void* jni);
  /* The address of the object of a weak global JNI reference, the same as by object_places and in the VM's own dumps;
   * 0: it has been collected. Only after weak_addresses and while the VM is stopped, since objects move.
   * [control][heap] */
  uint64_t (*weak_address)(const hprof_host* host, void* weak);
  uint32_t stack_chains_bytes; /* see walk_key */
  uint32_t reserved;
  /* The same stack as walk_key has just answered for: its top `depth` frames, or all, if there are fewer, without hidden
   * methods, innermost first. `method` is the VM's own pointer and no jmethodID, and may be that of another method after
   * the next collection; `location` is as of JVMTI. The caller learns from the VM's stacks what they are called. learns =
   * 1: earlier answers have agreed with the VM, so the walk may learn from this one, too. 0: not known. Needs
   * thread->seen. [app] */
  uint32_t (*walk_frames)(hprof_frame_walk* walk, const void* jni, uint32_t depth, uint32_t learns,
                          hprof_raw_frame* frames, hprof_walk_thread* thread);
  /* 1: weak_reuse may be used, once the next collection has ended. In create with jni = NULL, where it only asks for the
   * events that it needs, and then in each start. [onload][control] */
  uint32_t (*weak_reuse_open)(const hprof_host* host, void* jni);
  /* 1: the caller's weak global reference, whose object has been collected, refers to `object`, a local reference, from now
   * on. 0: it does not; give it back. Many times as fast as to give it back and to make another one. [app] */
  uint32_t (*weak_reuse)(void* jni, void* weak, void* object, hprof_weak_thread* thread);
  /* With the Serial, Parallel and CMS collectors: the VM's own count of its collections, which goes up when one begins,
   * also when no event tells of it. It is there as long as the VM. NULL: not known, or another collector. [control] */
  const uint32_t* (*collection_count)(const hprof_host* host);
  /* The VM's own count of unloaded classes. As long as it stays the same, what was known of a class, of its number in the
   * headers of objects and of its methods' addresses holds; events of unloaded classes come later. It is there as long as
   * the VM. NULL: not known. [control] */
  const uint32_t* (*unload_count)(const hprof_host* host);
} hprof_hotspot_service;

#endif
