/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and numbers: strings, classes, methods, frames, traces, threads. Insert-only tables: a number stays valid and
 * keeps its meaning until the session ends. Full tables hand out 0 and count the loss.
 */
#ifndef HPROF_SERVICE_IDS_H
#define HPROF_SERVICE_IDS_H

#include <hprof/abi.h>

#define HPROF_SERVICE_IDS "hprof.ids/1"

/* jvmtiFrameInfo, declared without jvmti.h: same layout on every ABI. Never changes. */
typedef struct hprof_raw_frame {
  void* method;     /* jmethodID */
  int64_t location; /* bytecode index; -1 for a native method */
} hprof_raw_frame;

/* The contents of a class serial. The caller sets `size`, here and below. */
typedef struct hprof_class_info {
  uint32_t size;
  hprof_class_serial serial;
  hprof_string_id name;      /* as in Java source: java.util.Map$Entry, byte[] */
  hprof_string_id signature; /* as in the class file: Ljava/util/Map$Entry; */
  hprof_string_id source;    /* SourceFile, 0 = unknown */
  hprof_trace_serial trace;  /* where it was loaded, 0 = unknown */
  hprof_object_id object;    /* the class object's id in dumps and LOAD CLASS */
} hprof_class_info;

typedef struct hprof_method_info {
  uint32_t size;
  hprof_class_serial owner;
  hprof_string_id name;
  hprof_string_id signature; /* (I)V */
} hprof_method_info;

/* hprof_frame_info.line beyond line numbers */
#define HPROF_LINE_NONE 0 /* no line information asked for or available */
#define HPROF_LINE_UNKNOWN (-1)
/* -2 is reserved: the formats have it for compiled code without lines, which no VM reports any more */
#define HPROF_LINE_NATIVE (-3)
typedef struct hprof_frame_info {
  uint32_t size;
  hprof_method_id method;
  int32_t line;
} hprof_frame_info;

/* Flags of a trace */
/* The stack, or one of those that the trace stands for, reached the depth that was asked for: the caller of the last
 * frame is not known. */
#define HPROF_TRACE_CUT 0x1u
typedef struct hprof_trace_info {
  uint32_t size;
  hprof_trace_serial serial;
  hprof_thread_serial thread; /* 0: traces are not separated by thread */
  uint32_t frame_count;
  const hprof_frame_id* frames; /* innermost first; the core's, as long as the session lives */
  uint32_t flags;               /* HPROF_TRACE_*; one may be set later */
  uint32_t reserved;
} hprof_trace_info;

typedef struct hprof_thread_info {
  uint32_t size;
  hprof_thread_serial serial;
  uint32_t flags; /* HPROF_THREAD_* */
  hprof_string_id name, group, parent_group;
  hprof_trace_serial trace;
  uint32_t reserved;
  hprof_object_id object;
  uint64_t java_id; /* Thread.threadId(); 0: not known */
  uint64_t os_id;   /* as hprof_thread's; 0: not known, or virtual */
} hprof_thread_info;

typedef struct hprof_ids_service {
  uint32_t size;
  uint32_t reserved;
  /* Interning: equal input, equal number. Lock-free. [app][control][onload] */
  hprof_string_id (*string)(const hprof_host* host, hprof_text text);
  hprof_trace_serial (*trace)(const hprof_host* host, hprof_thread_serial thread, const hprof_frame_id* frames,
                              uint32_t count, uint32_t flags); /* HPROF_TRACE_*; ignored when traces are compared */
  /* The frame class_name.method_name(Unknown Source:Unknown line), for code without a Java method.
   * [app][control][onload] */
  hprof_frame_id (*synthetic_frame)(const hprof_host* host, const char* class_name, const char* method_name);
  /* The id of a frame that the VM reported. running = 1: it is on the calling thread's stack now, so its class cannot be
   * unloaded. 0: it is of another thread, or of an earlier time; this needs HPROF_NEED_METHOD_BOOK, and the answer is a
   * synthetic frame JVM.unloaded_method when the class is gone. The first such call enters the loaded classes into the
   * method book; before it, signal handlers find no method ids of them. So a collector with a signal handler calls it at
   * its start, with raw->method NULL; the answer is 0. [app][control] */
  hprof_frame_id (*frame)(const hprof_host* host, void* jni, const hprof_raw_frame* raw, uint32_t running);
  /* The serial of a class object: classes of the same name in different loaders have different serials.
   * [app][control] */
  hprof_class_serial (*class_serial)(const hprof_host* host, void* jni, void* jclass);
  /* Look-ups. Text lives as long as the session; absent for a number that was never handed out. [any] but [signal] */
  hprof_text (*string_text)(const hprof_host* host, hprof_string_id id);
  /* Fill in *info up to its size, which the caller has set. 0: a number that was never handed out; the rest of *info is
   * zeroed. [any] but [signal] */
  uint32_t (*class_info)(const hprof_host* host, hprof_class_serial serial, hprof_class_info* info);
  uint32_t (*method_info)(const hprof_host* host, hprof_method_id id, hprof_method_info* info);
  uint32_t (*frame_info)(const hprof_host* host, hprof_frame_id id, hprof_frame_info* info);
  uint32_t (*trace_info)(const hprof_host* host, hprof_trace_serial serial, hprof_trace_info* info);
  /* 0 also for a thread that ended long ago: it is forgotten once thousands of others have started since, which is long
   * enough to write its data. [any] but [signal] */
  uint32_t (*thread_info)(const hprof_host* host, hprof_thread_serial serial, hprof_thread_info* info);
  /* The serial of a class in heap dumps, one per class object. `object` is its id, the same in every dump of the
   * session, and becomes class_info.object. [control] */
  hprof_class_serial (*dumped_class)(const hprof_host* host, void* jni, void* jclass, hprof_object_id object);
  /* A serial for events of a virtual thread that the core need not know. Each call gives another one, which is forgotten
   * as that of a thread that has ended. java_id: its Thread.threadId(); name: absent if not known. [control] */
  hprof_thread_serial (*virtual_thread)(const hprof_host* host, uint64_t java_id, hprof_text name);
} hprof_ids_service;

#endif
