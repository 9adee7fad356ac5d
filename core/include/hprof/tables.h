/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the shipped collectors: names, columns, and their rows as structs. Their schemas have everything that
 * an encoder needs to draw or list them; this header is for collectors that emit the same tables, and for encoders that
 * format one of them specially.
 *
 * A row struct is the row's cells in the columns' order. Later versions may append columns: go by the row's stride.
 */
#ifndef HPROF_TABLES_H
#define HPROF_TABLES_H

#include <hprof/record.h>

/* CPU samples by trace, ranked by count; calls and self time of methods by trace, ranked by time. */
#define HPROF_TABLE_CPU_SAMPLES "hprof.cpu_samples/1"
#define HPROF_TABLE_CPU_TIMES "hprof.cpu_times/1"
typedef struct hprof_cpu_row {
  uint64_t count;   /* samples; calls */
  uint64_t time_ns; /* samples times the interval; measured time */
  uint64_t trace;   /* hprof_trace_serial */
} hprof_cpu_row;
#define HPROF_CPU_COUNT 0
#define HPROF_CPU_TIME 1
#define HPROF_CPU_TRACE 2

/* Each sample of cpu=samples, as an event. */
#define HPROF_TABLE_CPU_SAMPLE_EVENTS "hprof.cpu_sample_events/1"
typedef struct hprof_cpu_sample_event {
  uint64_t at_ns;  /* when it was taken */
  uint64_t thread; /* hprof_thread_serial; of a virtual thread its carrier */
  uint64_t state;  /* HPROF_STATE_* */
  uint64_t trace;  /* hprof_trace_serial */
  uint64_t count;
  uint64_t time_ns; /* count times the interval */
  /* The thread's context: hprof/service/context.h. Where nobody sets any, the table has no columns for it. Columns
   * behind these have names only. */
  uint64_t trace_high, trace_low;
  uint64_t span;
  uint64_t labels; /* hprof_string_id */
} hprof_cpu_sample_event;
#define HPROF_CPU_SAMPLE_EVENT_TIME 5
#define HPROF_CPU_SAMPLE_EVENT_CONTEXT 6 /* the first column of it */

/* Calls by pairs of methods. Ranked by count. */
#define HPROF_TABLE_CPU_OLD "hprof.cpu_old/1"
typedef struct hprof_call_row {
  uint64_t count;
  uint64_t time_ns;
  uint64_t callee, caller; /* hprof_method_id, 0: unknown */
} hprof_call_row;

/* The calls of each method, and by thread with thread=y. Ranked by calls; methods that were never called come last. */
#define HPROF_TABLE_METHOD_CALLS "hprof.method_calls/1"
typedef struct hprof_method_calls_row {
  uint64_t calls;
  uint64_t trace; /* hprof_trace_serial of the method alone */
} hprof_method_calls_row;

/* Allocation sites, ranked by live or by allocated bytes. */
#define HPROF_TABLE_ALLOC_SITES "hprof.alloc_sites/1"
typedef struct hprof_site_row {
  uint64_t owner; /* hprof_class_serial of the objects */
  uint64_t trace; /* hprof_trace_serial */
  uint64_t live_bytes, live_objects;
  uint64_t allocated_bytes, allocated_objects;
} hprof_site_row;
#define HPROF_SITE_LIVE_BYTES 2
#define HPROF_SITE_ALLOCATED_BYTES 4

/* Each sample of sites=sampled, as an event. */
#define HPROF_TABLE_ALLOC_SITE_EVENTS "hprof.alloc_site_events/1"
typedef struct hprof_site_event {
  uint64_t at_ns;
  uint64_t thread; /* hprof_thread_serial */
  uint64_t owner;  /* hprof_class_serial of the object */
  uint64_t trace;  /* hprof_trace_serial */
  /* What the sample stands for. */
  uint64_t allocated_bytes, allocated_objects;
} hprof_site_event;

/* How long the calls of timed methods took, a row for each method. Most time first. */
#define HPROF_TABLE_LATENCY "hprof.latency/1"
typedef struct hprof_latency_row {
  uint64_t method;  /* hprof_method_id */
  uint64_t calls;   /* that have ended */
  uint64_t running; /* calls that have not ended; no other column includes them */
  uint64_t mean_ns;
  uint64_t p50_ns, p90_ns, p99_ns, p99_9_ns; /* each the middle of a class of durations (see below) */
  uint64_t max_ns;
} hprof_latency_row;

/* The ended calls by class of duration, a row for each class that has any. The classes are the same everywhere, so
 * rows of several reports, processes and machines add up, which percentiles do not. */
#define HPROF_TABLE_LATENCY_CLASSES "hprof.latency_classes/1"
typedef struct hprof_latency_class_row {
  uint64_t trace;          /* hprof_trace_serial of the method alone */
  uint64_t from_ns, to_ns; /* from_ns <= duration < to_ns; the last class ends with INT64_MAX */
  uint64_t calls;
  uint64_t time_ns; /* calls times the middle of the class */
} hprof_latency_class_row;

/* Each call of a timed method that took at least latency-events=, as an event. */
#define HPROF_TABLE_SLOW_CALL_EVENTS "hprof.slow_call_events/1"
typedef struct hprof_slow_call_event {
  uint64_t at_ns;  /* when it was over */
  uint64_t thread; /* hprof_thread_serial */
  uint64_t time_ns;
  uint64_t trace;  /* hprof_trace_serial: at its end, from the method on */
  uint64_t method; /* hprof_method_id */
} hprof_slow_call_event;

/* How long tasks waited in executors before they began, a row for each executor and stack that submitted them. Most time
 * first. */
#define HPROF_TABLE_QUEUES "hprof.queues/1"
typedef struct hprof_queue_row {
  uint64_t tasks; /* that have begun */
  uint64_t time_ns;
  uint64_t waiting;                          /* that have not; no other column includes them */
  uint64_t p50_ns, p90_ns, p99_ns, p99_9_ns; /* each the middle of a class of durations (see above) */
  uint64_t max_ns;
  uint64_t executor; /* hprof_string_id */
  uint64_t trace;    /* hprof_trace_serial */
} hprof_queue_row;

/* Reads and writes of files and sockets. Ranked by time. */
#define HPROF_TABLE_IO "hprof.io_calls/1"
typedef struct hprof_io_row {
  uint64_t operation; /* hprof_string_id: "file read", "file write", "socket read", "socket write" */
  uint64_t target;    /* hprof_string_id: path; host:port, of peers that have connected to the program host:* */
  uint64_t trace;     /* hprof_trace_serial */
  uint64_t calls, bytes;
  uint64_t time_ns;
  uint64_t failed; /* of the calls: ended by an exception */
} hprof_io_row;

/* Each of these calls, as an event; of a transfer between two files or a file and a socket one for each. */
#define HPROF_TABLE_IO_EVENTS "hprof.io_call_events/1"
typedef struct hprof_io_event {
  uint64_t at_ns;  /* when it was over */
  uint64_t thread; /* hprof_thread_serial */
  uint64_t time_ns;
  uint64_t trace;             /* hprof_trace_serial */
  uint64_t operation, target; /* hprof_string_id */
  uint64_t bytes;
  uint64_t failed; /* 1: it ended by an exception */
  uint64_t end;    /* 1: of a read, at the end of the file or stream */
} hprof_io_event;

/* Exceptions by class and by the stack that made them; how often catch clauses got them. Most made first. */
#define HPROF_TABLE_EXCEPTIONS "hprof.exceptions/1"
typedef struct hprof_exceptions_row {
  uint64_t made, caught;
  uint64_t uncaught; /* of those made; a state */
  uint64_t owner;    /* hprof_class_serial of the exceptions */
  uint64_t trace;    /* hprof_trace_serial; 0: they were not seen made */
} hprof_exceptions_row;

/* The same by the method that has the catch clause. Most caught first. */
#define HPROF_TABLE_CATCHES "hprof.catches/1"
typedef struct hprof_catches_row {
  uint64_t caught;
  uint64_t method; /* hprof_method_id */
  uint64_t owner;  /* hprof_class_serial of the exceptions */
  uint64_t name;   /* hprof_string_id: both, for people */
  uint64_t trace;  /* hprof_trace_serial that made them; 0: they were not seen made */
} hprof_catches_row;

/* Classes defined, by the stack that did, by generator, and by class of the loader. Most first. */
#define HPROF_TABLE_CLASSES "hprof.classes/1"
typedef struct hprof_classes_row {
  uint64_t defined;
  uint64_t generator, loader; /* hprof_string_id; 0: no generator is known */
  uint64_t name;              /* hprof_string_id: both, for people */
  uint64_t trace;             /* hprof_trace_serial */
} hprof_classes_row;

/* Class loaders that live, by class, and what they hold. Most classes first. */
#define HPROF_TABLE_LOADERS "hprof.loaders/1"
typedef struct hprof_loaders_row {
  uint64_t loader; /* hprof_string_id of the name of their class */
  uint64_t loaders, classes;
  uint64_t generated; /* classes with a generator */
  uint64_t metaspace; /* bytes; 0: the VM does not say */
} hprof_loaders_row;

/* One row: all sites together. */
#define HPROF_TABLE_HEAP_SUMMARY "hprof.heap_summary/1"
typedef struct hprof_heap_summary_row {
  uint64_t live_bytes, live_objects;
  uint64_t allocated_bytes, allocated_objects;
} hprof_heap_summary_row;

/* Time that threads were blocked on locks. Ranked by time. */
#define HPROF_TABLE_MONITOR_TIME "hprof.monitor_time/1"
typedef struct hprof_monitor_row {
  uint64_t count;
  uint64_t time_ns;
  uint64_t trace;   /* hprof_trace_serial */
  uint64_t monitor; /* hprof_class_serial of the monitor */
  uint64_t label;   /* hprof_string_id of the kind of lock, 0: a Java monitor */
} hprof_monitor_row;
#define HPROF_MONITOR_TIME 1

/* Each contention, and each wait for a notification, as an event. With monitor=all also the samples of parked threads,
 * of which only the first on a lock counts as a contention. */
#define HPROF_TABLE_MONITOR_TIME_EVENTS "hprof.monitor_time_events/1"
#define HPROF_TABLE_MONITOR_WAIT_EVENTS "hprof.monitor_wait_events/1"
typedef struct hprof_monitor_event {
  uint64_t at_ns;  /* when it was over */
  uint64_t thread; /* hprof_thread_serial */
  uint64_t count;  /* contentions or waits */
  uint64_t time_ns;
  uint64_t trace;      /* hprof_trace_serial */
  uint64_t monitor;    /* hprof_class_serial of the monitor */
  uint64_t label;      /* hprof_string_id of the kind of lock, 0: a Java monitor */
  uint64_t lock;       /* its identity hash; 0: not known */
  uint64_t owner;      /* hprof_thread_serial of who held it before, or when the thread blocked; 0: not known */
  uint64_t timeout_ns; /* of a wait; 0: none */
  uint64_t timed_out;  /* 1: the wait ended with its timeout */
} hprof_monitor_event;

/* Of the unit vm_events, all of them events. A thread of the program starts or ends; virtual threads are left out. */
#define HPROF_TABLE_THREAD_EVENTS "hprof.thread_events/1"
typedef struct hprof_thread_event {
  uint64_t at_ns;
  uint64_t thread; /* hprof_thread_serial */
  uint64_t starts; /* 1: it starts; 0: it ends */
} hprof_thread_event;

/* Once a second: the platform threads of the program. */
#define HPROF_TABLE_THREAD_COUNT_EVENTS "hprof.thread_count_events/1"
typedef struct hprof_thread_count_event {
  uint64_t at_ns;
  uint64_t live, daemons; /* daemons: of these */
  uint64_t started;       /* since the collector started, with those that lived then */
  uint64_t most;          /* that have lived at the same time */
} hprof_thread_count_event;

/* The VM and what it runs, when the collector starts and every ten seconds, since outputs may begin later. */
#define HPROF_TABLE_VM_EVENTS "hprof.vm_events/1"
typedef struct hprof_vm_event {
  uint64_t at_ns;
  uint64_t name, version;      /* hprof_string_id */
  uint64_t arguments, command; /* hprof_string_id: of the VM; the main class and its arguments. 0: not known */
  uint64_t began_ms;           /* wall clock, milliseconds since 1970; 0: with the agent, or not known */
} hprof_vm_event;

/* The collector stopped the program. */
#define HPROF_TABLE_PAUSE_EVENTS "hprof.pause_events/1"
typedef struct hprof_pause_event {
  uint64_t at_ns; /* when it was over */
  uint64_t time_ns;
  uint64_t number; /* 1 for the first */
} hprof_pause_event;

/* Once a second: CPU time of the process, and of the machine. */
#define HPROF_TABLE_LOAD_EVENTS "hprof.load_events/1"
typedef struct hprof_load_event {
  uint64_t at_ns;
  uint64_t elapsed_ns, cpu_ns; /* since the event before */
  uint64_t processors;         /* that the VM may use */
  uint64_t busy, all;          /* CPU time of the machine's processors, in any unit; all 0: not known */
} hprof_load_event;

/* At most once a second, after pauses: the heap, as java.lang.Runtime has it. */
#define HPROF_TABLE_HEAP_EVENTS "hprof.heap_events/1"
typedef struct hprof_heap_event {
  uint64_t at_ns;
  uint64_t used_bytes, committed_bytes, most_bytes;
  uint64_t number; /* of the last pause */
} hprof_heap_event;

#endif
