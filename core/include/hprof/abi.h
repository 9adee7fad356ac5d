/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ground rules of the plugin ABI: version, layout word, primitive types.
 *
 * C99, so that a plugin can be written in any language that speaks C. Structs hold fixed-width integers, pointers and
 * function pointers only: no long, bool, enum-typed field, bit-field or C++ type. Every struct that may grow starts
 * with `size` (bytes, set by whoever fills it in) and grows at its end only; a member that lies beyond `size` or is
 * NULL is not supported by the other side: test with HPROF_HAS before use. For a struct that a call fills in, the
 * caller sets the size, and no more than that is written. Arrays of structs that may grow come with a stride. Structs with
 * neither size nor stride never change; docs/abi.md lists them. A member `reserved` is padding and 0. No exception ever
 * crosses this interface.
 *
 * Thread tags: each function says in brackets on which threads it may be called, or will be called:
 *   [onload]   Agent_OnLoad or Agent_OnAttach, once, before any event. The VM may not run Java code yet: no JNI.
 *   [control]  one control thread at a time (reports, start, stop). May wait, allocate and call JVMTI and JNI.
 *   [app]      any Java thread, inside a JVMTI event. Never wait, never take a lock another thread holds for long.
 *   [gc]       inside GarbageCollectionStart/Finish: no JNI, no JVMTI except memory functions, no lock that others may hold.
 *   [heap]     inside a heap-walk callback: no JNI, no JVMTI; the VM is stopped.
 *   [writer]   the writer thread, or the control thread while a report is written. No JNI, no JVMTI.
 *   [signal]   inside a signal handler: async-signal-safe only. No allocation, no lock, errno kept.
 *   [any]      all of the above.
 */
#ifndef HPROF_ABI_H
#define HPROF_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
#define HPROF_EXTERN_C extern "C"
#else
#define HPROF_EXTERN_C extern
#endif

/* Compilers with __has_attribute say whether they have dllexport; others are recognised by their names. */
#if defined(__has_attribute)
#if __has_attribute(dllexport)
#define HPROF_DLLEXPORT 1
#endif
#elif defined(_MSC_VER) || defined(__MINGW32__)
#define HPROF_DLLEXPORT 1
#endif
#if defined(HPROF_DLLEXPORT)
#define HPROF_EXPORT HPROF_EXTERN_C __declspec(dllexport)
#elif defined(__GNUC__) || defined(__clang__)
#define HPROF_EXPORT HPROF_EXTERN_C __attribute__((visibility("default")))
#elif defined(__SUNPRO_C) || defined(__SUNPRO_CC)
#define HPROF_EXPORT HPROF_EXTERN_C __global
#else
#define HPROF_EXPORT HPROF_EXTERN_C
#endif

/* The version of these headers. A different major version is refused. */
#define HPROF_ABI_MAJOR 1
#define HPROF_ABI_MINOR 0

/* The oldest minor version of the core that runs this plugin; older cores refuse it. Define it before the first
 * include, as the version of the newest feature that the plugin requires; features that it tests for with HPROF_HAS or
 * HPROF_REACHES do not count. Compiling against newer headers alone raises no requirement. */
#ifndef HPROF_ABI_TARGET_MINOR
#define HPROF_ABI_TARGET_MINOR 0
#endif
#if HPROF_ABI_TARGET_MINOR > HPROF_ABI_MINOR
#error "HPROF_ABI_TARGET_MINOR is beyond the version of these headers"
#endif

/* HPROF_SIZE_TO: bytes of a struct up to the end of `member`. A struct has the member if its size, or stride, is at least
 * that. Compare sizes with it, never with sizeof, which grows with the headers.
 * HPROF_REACHES: the struct at `p` has `member`. HPROF_HAS: and the member is not NULL. `p` may be NULL and is
 * evaluated more than once. */
#define HPROF_SIZE_TO(type, member) (offsetof(type, member) + sizeof(((type*)0)->member))
#define HPROF_REACHES(p, type, member) ((p) != NULL && (p)->size >= HPROF_SIZE_TO(type, member))
#define HPROF_HAS(p, type, member) (HPROF_REACHES(p, type, member) && (p)->member != NULL)

/* Copies as much of a struct that starts with its size as both sides know, zeroes the rest of `to`, and keeps to's own
 * size. Use it for every struct of the other side that is kept or filled in: neither side then reads or writes past the
 * other's version. Both sizes are at least 4 bytes. [any] */
static inline void hprof_copy_sized(void* to, uint32_t to_size, const void* from, uint32_t from_size) {
  const uint32_t common = from_size < to_size ? from_size : to_size;
  memcpy(to, from, common);
  memset((char*)to + common, 0, to_size - common);
  memcpy(to, &to_size, sizeof(to_size));
}

/* Outcome of a call. Errors are values; their text has been sent to the log service. Later versions may add values:
 * treat an unknown one as HPROF_FAILED. */
typedef int32_t hprof_status;
#define HPROF_OK 0
#define HPROF_UNSUPPORTED 1 /* this VM, platform or build cannot do it */
#define HPROF_NO_MEMORY 2   /* the memory budget is used up */
#define HPROF_DROPPED 3     /* a bounded buffer was full; the loss has been counted */
#define HPROF_FAILED 4      /* anything else; the log says what */
#define HPROF_ABORTED 5     /* the output is gone (disk full, dead peer, deadline): stop producing */

/* Text of `size` bytes at `data`, modified UTF-8 when it comes from the VM, not NUL terminated. data == NULL: absent. */
typedef struct hprof_text {
  const char* data;
  uint64_t size;
} hprof_text;

/* 1: `name` is in the NULL-terminated list of names. A NULL list is empty. [any] */
static inline int hprof_is_listed(const char* const* list, const char* name) {
  for (; list != NULL && *list != NULL; list++) {
    if (strcmp(*list, name) == 0) return 1;
  }
  return 0;
}

/* The kinds of numbers that the core hands out. All are dense and start at 1; 0 is "none". Encoders derive the numbers
 * that the formats print (threads from 200001, traces from 300001) from them. */
typedef uint32_t hprof_string_id;
typedef uint32_t hprof_class_serial;
typedef uint32_t hprof_method_id;
typedef uint32_t hprof_frame_id;
typedef uint32_t hprof_trace_serial;
typedef uint32_t hprof_thread_serial;
typedef uint64_t hprof_object_id;

typedef struct hprof_host hprof_host;

#endif
