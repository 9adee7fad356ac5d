/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collector: watches the VM and turns what it saw into records when asked for a report.
 *
 * Life: create, then any number of (start, report 0..n times, reset, stop), then destroy. `stop` is a barrier: when it
 * returns, none of the collector's handlers and none of its threads runs any more. Its data is kept: report and reset
 * may also be called after stop, and the next start adds to the same data. A collector that cannot report after stop
 * answers HPROF_UNSUPPORTED.
 */
#ifndef HPROF_COLLECTOR_H
#define HPROF_COLLECTOR_H

#include <hprof/host.h>
#include <hprof/plugin.h>
#include <hprof/record.h>

/* A Java thread as the handlers see it. Owned by the core; valid until the thread's end event has returned. */
#define HPROF_THREAD_VIRTUAL (1u << 0)
#define HPROF_THREAD_AGENT (1u << 1) /* one of the agent's own threads: collectors leave it out */
#define HPROF_THREAD_DAEMON (1u << 2)
typedef struct hprof_thread {
  uint32_t size;
  hprof_thread_serial serial;
  uint32_t flags; /* HPROF_THREAD_* */
  uint32_t reserved;
  uint64_t os_id; /* native thread id; 0 for virtual threads and where the platform has none */
  /* For the collector's own state of this thread, NULL at first. Handlers run on the thread itself; a collector that
   * also uses the slot in hprof_threads_service.each synchronises the two. */
  void* slot;
} hprof_thread;

/* Event handlers; NULL = not subscribed. jni is the JNIEnv* of the calling thread, jthread, jobject and so on are
 * JNI local references, both valid during the call only. See the JVMTI specification for what each event means.
 * [app], but for those that say otherwise. */
typedef struct hprof_handlers {
  uint32_t size;
  uint32_t reserved;
  /* The VM is initialised and the collectors have been started. Not called when attached. */
  void (*vm_init)(void* self, void* jni, hprof_thread* thread);
  void (*thread_start)(void* self, void* jni, hprof_thread* thread);
  void (*thread_end)(void* self, void* jni, hprof_thread* thread);
  void (*class_prepare)(void* self, void* jni, hprof_thread* thread, void* jclass);
  void (*gc_start)(void* self);  /* [gc] */
  void (*gc_finish)(void* self); /* [gc] */
  void (*monitor_contended_enter)(void* self, void* jni, hprof_thread* thread, void* object);
  void (*monitor_contended_entered)(void* self, void* jni, hprof_thread* thread, void* object);
  void (*monitor_wait)(void* self, void* jni, hprof_thread* thread, void* object, int64_t timeout_ms);
  void (*monitor_waited)(void* self, void* jni, hprof_thread* thread, void* object, uint32_t timed_out);
  void (*vm_object_alloc)(void* self, void* jni, hprof_thread* thread, void* object, void* jclass, int64_t size);
  void (*sampled_object_alloc)(void* self, void* jni, hprof_thread* thread, void* object, void* jclass, int64_t size);
  /* A class or interface has been loaded but not linked: query its name and loader, and little else. */
  void (*class_load)(void* self, void* jni, hprof_thread* thread, void* jclass);
  /* A class or interface has been unloaded. Noticed after a garbage collection, up to seconds later but before the next
   * report; class_info still describes it. Called on a thread of the agent. Not called for classes that are still
   * loaded at the end. */
  void (*class_unload)(void* self, hprof_class_serial serial); /* [control] */
  /* The VM ends; called before the last report, while the collector still runs, on a thread of the agent. The VM waits
   * for it at most exit-timeout=. Not called when the agent is detached. */
  void (*vm_death)(void* self, void* jni); /* [control] */
} hprof_handlers;

/* Flags of a report of allocation sites */
#define HPROF_SITES_INCREMENTAL 0x1u   /* only what has changed since the previous report */
#define HPROF_SITES_BY_ALLOCATION 0x2u /* ranked by allocated bytes, not by live ones */
#define HPROF_SITES_FORCED_GC 0x4u     /* collect garbage first */
typedef struct hprof_report {
  uint32_t size;
  uint32_t reason; /* HPROF_REPORT_EXIT .. */
  double cutoff;   /* leave out rows below this share of the total, 0..1: the command's cutoff, else cutoff= */
  uint32_t flags;  /* of an ALLOC SITES command: HPROF_SITES_*; else 0 */
  uint32_t reserved;
  /* NULL-terminated names of the kinds and tables that are wanted; NULL: all that the collector reports. A collector
   * that emits a single table can ignore this; others ask hprof_wants. */
  const char* const* records;
} hprof_report;

/* 1: the kind or table of that name is wanted. [any] */
static inline int hprof_wants(const hprof_report* report, const char* name) {
  return !HPROF_HAS(report, hprof_report, records) || hprof_is_listed(report->records, name);
}

/* Settings that commands change in a running collector; it answers HPROF_UNSUPPORTED to those it does not handle. */
#define HPROF_CONTROL_CPU_SAMPLING 1 /* value: 1 on, 0 off; object: the thread object's id, 0 = all */
#define HPROF_CONTROL_ALLOC_TRACES 2 /* value: 1 on, 0 off */
#define HPROF_CONTROL_DEPTH 3        /* value: frames */
typedef struct hprof_control {
  uint32_t size;
  uint32_t what; /* HPROF_CONTROL_* */
  int64_t value;
  hprof_object_id object;
} hprof_control;

typedef struct hprof_collector_ops {
  uint32_t size;
  uint32_t reserved;
  /* config: the unit's filled-in config struct; lives as long as the session. *self is passed to everything else. On
   * failure it writes one line to error (error_size bytes, NUL terminated, empty at first) and frees what it has
   * allocated; nothing else is called then. */
  hprof_status (*create)(const hprof_host* host, const void* config, void** self, char* error,
                         uint32_t error_size); /* [onload] */
  /* The VM is live. After a failure stop is called at once, and ends what was started before it. [control] */
  hprof_status (*start)(void* self);
  hprof_status (*report)(void* self, const hprof_report* report); /* [control] */
  /* Discards what was collected. [control] */
  void (*reset)(void* self);
  void (*stop)(void* self); /* [control] */
  /* Called after stop. [control] */
  void (*destroy)(void* self);
  hprof_status (*control)(void* self, const hprof_control* control); /* [control] */
  const hprof_handlers* handlers;
  /* The report has been delivered and the program runs: free now what is slow to free. Not called at the VM's end. May
   * be NULL or absent. */
  void (*reported)(void* self); /* [control] */
} hprof_collector_ops;

#endif
