/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * Objects of a HotSpot VM: their headers, their addresses, and the creation of those whose allocation JVMTI does not
 * report. The service offers what has been verified in the running VM and is not switched off by hotspot=
 * (docs/hotspot.md). Look it up in create.
 */
#ifndef HPROF_DRAFT_OBJECTS_H
#define HPROF_DRAFT_OBJECTS_H

#include <hprof/abi.h>

#define HPROF_SERVICE_OBJECTS "hprof.draft.objects/1"

/* Eight bytes of each object that identify its class and, if length_shift is not 0, hold the length of an array. */
typedef struct hprof_object_header {
  uint32_t size;
  uint32_t class_shift;
  uint64_t class_mask;
  int64_t at;               /* offset of the eight bytes in the object */
  uint32_t length_shift;    /* 0: the length is not among them */
  uint32_t array_base;      /* bytes of an array before its elements */
  uint32_t alignment;       /* of objects' sizes, bytes */
  uint32_t reference_shift; /* elements that are references have 1 << reference_shift bytes */
} hprof_object_header;

/* A key of the object's class, never 0; valid while the class is loaded, since another class may get it later. [any] */
static inline uint64_t hprof_class_key(const hprof_object_header* header, uint64_t word) {
  return word >> header->class_shift & header->class_mask;
}
/* Bytes of an array with elements of 1 << element_shift bytes. Only where length_shift is not 0. [any] */
static inline uint64_t hprof_array_size(const hprof_object_header* header, uint64_t word, uint32_t element_shift) {
  const uint64_t size = header->array_base + (word >> header->length_shift << element_shift);
  return (size + header->alignment - 1) & ~(uint64_t)(header->alignment - 1);
}

/* Where the VM keeps an object's address and size: offsets in 8-byte words from the tag pointers of JVMTI's heap
 * callbacks. */
typedef struct hprof_object_offsets {
  uint32_t size;
  int32_t object;      /* from tag_ptr: the address */
  int32_t object_size; /* from tag_ptr */
  int32_t referrer;    /* from referrer_tag_ptr, if that is not tag_ptr: the referrer's address */
} hprof_object_offsets;

/* [heap] */
static inline uint64_t hprof_object_address(const hprof_object_offsets* offsets, const int64_t* tag) {
  return (uint64_t)tag[offsets->object];
}
static inline uint32_t hprof_has_object_size(const hprof_object_offsets* offsets, const int64_t* tag, int64_t size) {
  return tag[offsets->object_size] == size;
}
static inline uint64_t hprof_referrer_address(const hprof_object_offsets* offsets, const int64_t* referrer_tag,
                                              const int64_t* tag) {
  return referrer_tag == tag ? hprof_object_address(offsets, tag) : (uint64_t)referrer_tag[offsets->referrer];
}

typedef struct hprof_objects_service {
  uint32_t size;
  uint32_t reserved;
  /* 0: not known. header->size is set by the caller. [control] */
  uint32_t (*header)(const hprof_host* host, hprof_object_header* header);
  /* 0: not known. offsets->size is set by the caller. jvmti: a jvmtiEnv with can_tag_objects. [control] */
  uint32_t (*offsets)(const hprof_host* host, void* jvmti, void* jni, hprof_object_offsets* offsets);
  /* Calls made(self, jni, object, bare) for each object, array and string that native code creates through JNI from now
   * on, on the creating thread (replaces the JNI function table). bare = 1: AllocObject, no constructor has run. One
   * user; cannot be undone. 0: not done. [control] */
  uint32_t (*watch_natives)(const hprof_host* host, void (*made)(void* self, void* jni, void* object, uint32_t bare),
                            void* self);
  /* Replaces the native method Unsafe.allocateInstance by one that causes no VMObjectAlloc events. Call it once, in a
   * native method called by a class of the boot loader: the VM prints a warning when others replace its natives. 0: not
   * replaced. [control] */
  uint32_t (*quiet_allocate_instance)(const hprof_host* host, void* jni);
} hprof_objects_service;

#endif
