/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * Probes that count by themselves, that get an object's header, or that are put in on demand. service/probes.h and the
 * services beside it have the others, and the rules for all.
 *
 * The probes call java.lang.HprofTracker, a class of the agent; its source (core/bytecode/tracker) says what it does
 * with the 64-bit words below. Units that use probes need HPROF_NEED_CLASS_HOOKS; to see the JDK's own classes they
 * also want HPROF_NEED_EARLY_CLASS_HOOKS and HPROF_NEED_EARLY_VMSTART. NULL service: not in this build.
 *
 * Early hooks switch the class-data archive and the AOT cache off. Without them, and with HPROF_PROBE_ALLOCATIONS and
 * HPROF_PROBE_LATE, both stay on: classes loaded before VMInit, all those of an AOT cache included, get no probes,
 * except for java.lang.Object; hprof_probes_service.each_left reports their number. In a run that records classes for an archive or an AOT
 * cache no class gets probes: ask and go succeed without effect, and the core says so.
 */
#ifndef HPROF_DRAFT_BYTECODE_H
#define HPROF_DRAFT_BYTECODE_H

#include <hprof/abi.h>

#define HPROF_SERVICE_BYTECODE "hprof.draft.bytecode/4"

#define HPROF_PROBE_METHODS (1u << 0)     /* entry, exit and exception handlers of methods */
#define HPROF_PROBE_ALLOCATIONS (1u << 1) /* objects and arrays made */
#define HPROF_PROBE_CLOCK (1u << 2)       /* ask() only: the probes read the clock for threads whose state says so */
/* bits 5 and 6 are the core's own */
#define HPROF_PROBE_LATE (1u << 7)      /* ask() only: work without early hooks; see above */
#define HPROF_PROBE_CALLS (1u << 8)     /* each call of a method and its end: two calls of native functions each; not
                                             beside HPROF_PROBE_METHODS */
#define HPROF_PROBE_ON_DEMAND (1u << 9) /* ask() only, with HPROF_PROBE_CALLS or HPROF_PROBE_TIMED alone: see go() */
#define HPROF_PROBE_TIMED (1u << 10)    /* each call of a method and its end, for units that time them: on any thread,
                                             beside any other probes, and when attached. Requires HPROF_PROBE_ON_DEMAND.
                                             Methods that neither call nor loop get none */

/* One user for each kind of probe at a time. Threads of the agent are not reported. */
typedef struct hprof_probe_user {
  uint32_t size;
  uint32_t probes; /* HPROF_PROBE_* */
  void* self;      /* passed to all of these; functions for probes that are not asked for stay NULL */
  /* Which classes get probes in their methods: patterns separated by ':', "com.acme.*", "com.acme.Main"; a '*' at the
   * end matches any text, and a class includes its inner classes. NULL or empty: include all, exclude none. exclude
   * wins. Both live as long as the session. In `include` of HPROF_PROBE_TIMED "com.acme.Main.run" is a method, too. */
  const char* include;
  const char* exclude;
  /* HPROF_PROBE_METHODS. Called by probes: attach when Thread.$hq is 0, miss when the state has no edge for the call,
   * release when the state is no longer used. They run in the middle of any method: no JVMTI, no JNI except
   * references, and never wait for a Java thread that may be stopped. attach returns the new Thread.$hq of this thread;
   * 0: do not count. */
  uint64_t (*attach)(void* self, void* jni, void* jthread, uint32_t virtual_thread, uint64_t os_id); /* [app] */
  uint64_t (*miss)(void* self, uint64_t state, uint64_t node, hprof_method_id method);               /* [app] 0: not counted */
  void (*release)(void* self, uint64_t state);                                                       /* [app] */
  /* HPROF_PROBE_ALLOCATIONS: a new object, on the thread that made it; header: see header_at. Object.<init> calls it before
   * any other constructor of the object has run. On top of its stack are HprofTracker's methods, which JVMTI shows,
   * too. */
  void (*allocated)(void* self, void* jni, void* object, uint64_t header); /* [app] */
  /* HPROF_PROBE_CALLS: as in service/calls.h, but threads of the agent are included: see is_own_thread. On top of the
   * stack are HPROF_CALL_FRAMES of HprofTracker's methods, then that method. Both are registered as native methods of
   * HprofTracker, and called once at first with method or call 0: jlong JNICALL (JNIEnv*, jclass,
   * jint method), void JNICALL (JNIEnv*, jclass, jlong call, jboolean by_exception). */
  void* call_begins; /* [app] */
  void* call_ends;   /* [app] */
  /* HPROF_PROBE_TIMED: the number that the probes of a method pass, which gets them now, perhaps again. 0: none is left.
   * call_begins gets it in place of the method's, on any thread, in the middle of any method: no JVMTI, no JNI. call_ends
   * is a void JNICALL (JNIEnv*, jclass, jlong call). All may run until the process ends, after a detach for calls of
   * before. The end of a constructor is not told if super() or this() fails, unless that is Object's: call_begins gets
   * ~number, and once it has returned jlong JNICALL call_constructed(JNIEnv*, jclass, jlong call) is called, whose result
   * replaces the call. */
  uint32_t (*number)(void* self, hprof_method_id method); /* [app] */
  void* call_constructed;                                 /* [app] */
} hprof_probe_user;

#define HPROF_CALL_FRAMES 2

/* Counts of rewritten classes and methods. */
typedef struct hprof_probe_totals {
  uint32_t size; /* set by the caller */
  uint32_t reserved;
  uint64_t classes, classes_changed, bytes_read;
  uint64_t methods, methods_probed, leaves, allocations;
} hprof_probe_totals;

typedef struct hprof_bytecode_service {
  uint32_t size;
  uint32_t reserved;
  /* Requests probes, in create; they do nothing before go(). HPROF_UNSUPPORTED: not with this VM or build, or when
   * attached (no field can be added to a loaded Thread). [onload] */
  hprof_status (*ask)(const hprof_host* host, const hprof_probe_user* user);
  /* Switch probes on and off, except for HPROF_PROBE_CLOCK. HPROF_FAILED: the tracker class could not be made. After
   * halt, probes that have begun may still run for a moment, on memory that must stay. [control]
   * With HPROF_PROBE_ON_DEMAND [app] threads may call go, too, and no class is rewritten or examined before the first
   * go, unless another unit has probes. That one rewrites the loaded classes that are included, on the calling thread,
   * which stops the VM briefly many times; calls that have begun before it get no probes. It also answers HPROF_FAILED
   * when another unit has probes, which is final, except with HPROF_PROBE_TIMED, or when another thread is inside that go
   * and will switch them on. */
  hprof_status (*go)(const hprof_host* host, uint32_t probes);
  void (*halt)(const hprof_host* host, uint32_t probes);
  /* Thread.$hq of a thread. Runs Java code. guess: a value that this thread has had, or 0; if it seems unchanged, it is
   * returned ten times as fast, but may be out of date. [app][control], but not in attach, miss and release */
  uint64_t (*thread_state)(const hprof_host* host, void* jni, void* jthread, uint64_t guess);
  void (*set_thread_state)(const hprof_host* host, void* jni, void* jthread, uint64_t state);
  void (*totals)(const hprof_host* host, hprof_probe_totals* totals); /* [control] */
  /* The offset in each object of the eight bytes that `allocated` gets as `header`, the first four as its lower half; -1,
   * the default: it gets 0. They must lie inside even the smallest object. Takes effect with the next go. [control] */
  void (*header_at)(const hprof_host* host, int64_t offset);
  /* Not 0: the calling thread is one of the agent's own. [app] */
  uint32_t (*is_own_thread)(const hprof_host* host);
  /* A counter that goes up before a class is redefined, whose methods then get new addresses, and in the first
   * collection after that. Lives as long as the process. [control] */
  const uint32_t* (*redefinitions)(const hprof_host* host);
  /* hprof_probes_service.each_left for HPROF_PROBE_TIMED. [control] */
  void (*each_untimed)(const hprof_host* host, void* argument,
                       void (*visit)(void* argument, const char* words, uint64_t classes, uint64_t methods));
} hprof_bytecode_service;

#endif
