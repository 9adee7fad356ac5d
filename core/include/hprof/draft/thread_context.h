/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * Contexts (service/context.h) of Java threads, platform and virtual. The unit that sets a context knows the id of the Java
 * thread; a signal handler finds it by the id of the Java thread that is mounted. Look it up in create.
 */
#ifndef HPROF_DRAFT_THREAD_CONTEXT_H
#define HPROF_DRAFT_THREAD_CONTEXT_H

#include <hprof/service/context.h>

#define HPROF_SERVICE_THREAD_CONTEXT "hprof.draft.thread_context/1"

typedef struct hprof_thread_context_service {
  uint32_t size;
  /* The first Java version with Thread.threadId(), by which contexts are found. */
  uint32_t first_with_ids;
  /* Allocates the table of contexts, unless there is one. The core calls it before a collector starts, if a unit has
   * enabled contexts, and `close` once all have stopped. 0: no memory. *why: static text, why `running` will find none;
   * NULL: it will find them. [control] */
  uint32_t (*open)(const hprof_host* host, void* jni, const char** why);
  void (*close)(const hprof_host* host);
  /* Forgets all contexts, and the variable that find_variable found. [control] */
  void (*clear)(const hprof_host* host);
  /* Sets the context of the calling Java thread, in place of an earlier one. thread: its Thread.threadId(), any value
   * before first_with_ids; context NULL: it has none. HPROF_DROPPED: the table is full. Takes no lock, allocates nothing,
   * and may be called at any time after `open`, also when the session has ended. [app] in a native method */
  hprof_status (*set)(const void* jni, uint64_t thread, const hprof_context* context);
  /* Sets the context of the virtual thread that the VM says is mounted on the calling thread. HPROF_UNSUPPORTED: none is
   * mounted, or the VM does not say. [app] */
  hprof_status (*set_running)(const void* jni, const hprof_context* context);
  /* The calling thread ends, and has no context any more. [app] */
  void (*end)(const void* jni);
  /* Copies the context of the calling Java thread. 0: it has none, or is just setting it. [signal][app] */
  uint32_t (*running)(const void* jni, hprof_context* context);
  /* Copies the context of the Java thread behind a local reference. 0: as above. [control] */
  uint32_t (*of)(void* jni, void* jthread, hprof_context* context);
  /* Looks for a library with the variable otel_thread_ctx_v1 (OpenTelemetry); from then on `running` reads it, too. 1: there is
   * one. Call it again when libraries may have been loaded. [control] */
  uint32_t (*find_variable)(const hprof_host* host);
  /* Looks for where the VM keeps what a thread has mounted, without a table of contexts. 1: `mounted` answers. [control] */
  uint32_t (*find_mounted)(const hprof_host* host, void* jni);
  /* Thread.threadId() of the virtual thread that the calling thread runs; 0: none, or not known. [signal] */
  uint64_t (*mounted)(const void* jni);
  /* The labels of the calling Java thread, platform or virtual, as set has them; 0: none. [app] */
  hprof_string_id (*labels)(const void* jni);
  /* The slots of the table by ids, for code in Java that does what `set` does (core/base/context_slots.h): the address of the
   * first and, in *count, a power of two, how many of how many bytes. They stay. 0: before first_with_ids, or an id is more than
   * a word. [control] */
  uint64_t (*slots)(uint32_t* count, uint32_t* bytes);
} hprof_thread_context_service;

#endif
