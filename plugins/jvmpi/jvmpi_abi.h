/*
 * The binary interface of JVMPI, version 1.2, that agents of that time were compiled against. Written from
 * the interface's names, numbers and layouts; C99 and C++, no dependency but jni.h.
 *
 * Functions have the platform's plain calling convention, JVM_OnLoad has JNI's. Texts are modified UTF-8.
 */
#ifndef HPROF_JVMPI_ABI_H
#define HPROF_JVMPI_ABI_H

#include <jni.h>
#include <stddef.h>

/* What an agent passes to JavaVM::GetEnv. */
enum { JVMPI_VERSION_1 = 0x10000001, JVMPI_VERSION_1_1 = 0x10000002, JVMPI_VERSION_1_2 = 0x10000003 };

/* Results of Enable-, Disable- and RequestEvent. */
enum { JVMPI_FAIL = -1, JVMPI_SUCCESS = 0, JVMPI_NOT_AVAILABLE = 1 };

enum {
  JVMPI_EVENT_METHOD_ENTRY = 1,
  JVMPI_EVENT_METHOD_ENTRY2 = 2,
  JVMPI_EVENT_METHOD_EXIT = 3,
  JVMPI_EVENT_OBJECT_ALLOC = 4,
  JVMPI_EVENT_OBJECT_FREE = 5,
  JVMPI_EVENT_OBJECT_MOVE = 6,
  JVMPI_EVENT_COMPILED_METHOD_LOAD = 7,
  JVMPI_EVENT_COMPILED_METHOD_UNLOAD = 8,
  JVMPI_EVENT_INSTRUCTION_START = 9,
  JVMPI_EVENT_THREAD_START = 33,
  JVMPI_EVENT_THREAD_END = 34,
  JVMPI_EVENT_CLASS_LOAD_HOOK = 35,
  JVMPI_EVENT_HEAP_DUMP = 37,
  JVMPI_EVENT_JNI_GLOBALREF_ALLOC = 38,
  JVMPI_EVENT_JNI_GLOBALREF_FREE = 39,
  JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC = 40,
  JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE = 41,
  JVMPI_EVENT_CLASS_LOAD = 42,
  JVMPI_EVENT_CLASS_UNLOAD = 43,
  JVMPI_EVENT_DATA_DUMP_REQUEST = 44,
  JVMPI_EVENT_DATA_RESET_REQUEST = 45,
  JVMPI_EVENT_JVM_INIT_DONE = 46,
  JVMPI_EVENT_JVM_SHUT_DOWN = 47,
  JVMPI_EVENT_ARENA_NEW = 48,
  JVMPI_EVENT_ARENA_DELETE = 49,
  JVMPI_EVENT_OBJECT_DUMP = 50,
  JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER = 51,
  JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED = 52,
  JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT = 53,
  JVMPI_EVENT_MONITOR_CONTENDED_ENTER = 54,
  JVMPI_EVENT_MONITOR_CONTENDED_ENTERED = 55,
  JVMPI_EVENT_MONITOR_CONTENDED_EXIT = 56,
  JVMPI_EVENT_MONITOR_WAIT = 57,
  JVMPI_EVENT_MONITOR_WAITED = 58,
  JVMPI_EVENT_MONITOR_DUMP = 59,
  JVMPI_EVENT_GC_START = 60,
  JVMPI_EVENT_GC_FINISH = 61,
  JVMPI_MAX_EVENT_TYPE_VAL = 61,
  /* Older names. */
  JVMPI_EVENT_OBJ_ALLOC = JVMPI_EVENT_OBJECT_ALLOC,
  JVMPI_EVENT_OBJ_FREE = JVMPI_EVENT_OBJECT_FREE,
  JVMPI_EVENT_OBJ_MOVE = JVMPI_EVENT_OBJECT_MOVE,
  JVMPI_EVENT_LOAD_COMPILED_METHOD = JVMPI_EVENT_COMPILED_METHOD_LOAD,
  JVMPI_EVENT_UNLOAD_COMPILED_METHOD = JVMPI_EVENT_COMPILED_METHOD_UNLOAD,
  JVMPI_EVENT_DUMP_DATA_REQUEST = JVMPI_EVENT_DATA_DUMP_REQUEST,
  JVMPI_EVENT_RESET_DATA_REQUEST = JVMPI_EVENT_DATA_RESET_REQUEST,
  JVMPI_EVENT_VM_INIT_DONE = JVMPI_EVENT_JVM_INIT_DONE,
  JVMPI_EVENT_NEW_ARENA = JVMPI_EVENT_ARENA_NEW,
  JVMPI_EVENT_DELETE_ARENA = JVMPI_EVENT_ARENA_DELETE,
  JVMPI_REQUESTED_EVENT = 0x10000000 /* a bit of event_type: asked for by RequestEvent */
};

/* GetThreadStatus: one of the first three, and bits. */
enum {
  JVMPI_THREAD_RUNNABLE = 1,
  JVMPI_THREAD_MONITOR_WAIT = 2,
  JVMPI_THREAD_CONDVAR_WAIT = 3,
  JVMPI_THREAD_INTERRUPTED = 0x4000,
  JVMPI_THREAD_SUSPENDED = 0x8000
};

enum { JVMPI_MINIMUM_PRIORITY = 1, JVMPI_NORMAL_PRIORITY = 5, JVMPI_MAXIMUM_PRIORITY = 10 };

/* Kinds of objects, and types of values in dumps. */
enum {
  JVMPI_NORMAL_OBJECT = 0,
  JVMPI_CLASS = 2, /* of an array: one of objects */
  JVMPI_BOOLEAN = 4,
  JVMPI_CHAR = 5,
  JVMPI_FLOAT = 6,
  JVMPI_DOUBLE = 7,
  JVMPI_BYTE = 8,
  JVMPI_SHORT = 9,
  JVMPI_INT = 10,
  JVMPI_LONG = 11
};

/* Records of MONITOR_DUMP: this byte, then: object (RAW: name, monitor), owner's JNIEnv*, u4 entries, u4
 * count and the JNIEnv* of those that wait to enter, u4 count and the JNIEnv* of those that wait to be
 * notified. */
enum { JVMPI_MONITOR_JAVA = 1, JVMPI_MONITOR_RAW = 2 };

/* Records of HEAP_DUMP from level 1 on and of OBJECT_DUMP: this byte, then the values listed. Counts and
 * values of primitive types are big-endian, ids and other pointers as the machine has them; nothing is
 * aligned. */
enum {
  JVMPI_GC_ROOT_UNKNOWN = 0xff,      /* object */
  JVMPI_GC_ROOT_JNI_GLOBAL = 0x01,   /* object, jobject */
  JVMPI_GC_ROOT_JNI_LOCAL = 0x02,    /* object, JNIEnv*, u4 number of the frame in its trace, or -1 */
  JVMPI_GC_ROOT_JAVA_FRAME = 0x03,   /* the same */
  JVMPI_GC_ROOT_NATIVE_STACK = 0x04, /* object, JNIEnv* */
  JVMPI_GC_ROOT_STICKY_CLASS = 0x05, /* class */
  JVMPI_GC_ROOT_THREAD_BLOCK = 0x06, /* thread, JNIEnv* */
  JVMPI_GC_ROOT_MONITOR_USED = 0x07, /* object */
  JVMPI_GC_ROOT_THREAD_OBJ = 0x08,   /* never written */
  /* class, super, loader, signers, protection domain, name, pointer, u4 bytes of an instance, interfaces, u2
   * 0, static fields; how many interfaces and fields there are, and of what types, CLASS_LOAD has told. */
  JVMPI_GC_CLASS_DUMP = 0x20,
  JVMPI_GC_INSTANCE_DUMP = 0x21,  /* object, class, u4 bytes, fields of the class, of its super and so on */
  JVMPI_GC_OBJ_ARRAY_DUMP = 0x22, /* object, u4 count, class of the elements or NULL, elements */
  JVMPI_GC_PRIM_ARRAY_DUMP = 0x23 /* object, u4 count, u1 type of the elements, elements */
};

/* HEAP_DUMP: each object's type and id; its references, too; its values, too. */
enum { JVMPI_DUMP_LEVEL_0 = 0, JVMPI_DUMP_LEVEL_1 = 1, JVMPI_DUMP_LEVEL_2 = 2 };

struct _jobjectID;
typedef struct _jobjectID* jobjectID;
struct _JVMPI_RawMonitor;
typedef struct _JVMPI_RawMonitor* JVMPI_RawMonitor;

typedef struct {
  jint lineno; /* -1: unknown, -3: a native method */
  jmethodID method_id;
} JVMPI_CallFrame;

typedef struct {
  JNIEnv* env_id;
  jint num_frames;
  JVMPI_CallFrame* frames; /* the innermost first */
} JVMPI_CallTrace;

typedef struct {
  char* method_name;
  char* method_signature;
  jint start_lineno; /* -1 both: no lines */
  jint end_lineno;
  jmethodID method_id;
} JVMPI_Method;

typedef struct {
  char* field_name;
  char* field_signature;
} JVMPI_Field;

typedef struct {
  jint offset; /* of the code, from its start */
  jint lineno;
} JVMPI_Lineno;

typedef struct {
  jint heap_dump_level;
} JVMPI_HeapDumpArg;

/* The data of an event, a member for each form. */
typedef struct {
  const char* class_name; /* with dots */
  char* source_name;      /* may be NULL */
  jint num_interfaces;
  jint num_methods;
  JVMPI_Method* methods;
  jint num_static_fields;
  JVMPI_Field* statics;
  jint num_instance_fields;
  JVMPI_Field* instances;
  jobjectID class_id;
} JVMPI_ClassLoad;

typedef struct {
  unsigned char* class_data;
  jint class_data_len;
  unsigned char* new_class_data; /* out; made with malloc_f */
  jint new_class_data_len;       /* out */
  void* (*malloc_f)(unsigned int);
} JVMPI_ClassLoadHook;

typedef struct {
  jint arena_id;
  jobjectID class_id; /* of an array of objects: its elements' class, may be NULL */
  jint is_array;      /* JVMPI_NORMAL_OBJECT, JVMPI_CLASS, JVMPI_BOOLEAN ... */
  jint size;
  jobjectID obj_id;
} JVMPI_ObjectAlloc;

typedef struct {
  char* thread_name;
  char* group_name;
  char* parent_name; /* of the group */
  jobjectID thread_id;
  JNIEnv* thread_env_id;
} JVMPI_ThreadStart;

typedef struct {
  int dump_level;
  char* begin;
  char* end;
  jint num_traces;
  JVMPI_CallTrace* traces;
} JVMPI_HeapDump;

typedef struct {
  jmethodID method_id;
  void* code_addr;
  jint code_size;
  jint lineno_table_size;
  JVMPI_Lineno* lineno_table;
} JVMPI_CompiledMethod;

typedef struct {
  char* begin;
  char* end;
  jint num_traces;
  JVMPI_CallTrace* traces;
  jint* threads_status;
} JVMPI_MonitorDump;

typedef struct {
  jint event_type; /* JVMPI_EVENT_*, with JVMPI_REQUESTED_EVENT */
  JNIEnv* env_id;
  union {
    JVMPI_ClassLoad class_load;
    struct {
      jobjectID class_id;
    } class_unload;
    JVMPI_ClassLoadHook class_load_hook;
    JVMPI_ObjectAlloc obj_alloc;
    struct {
      jobjectID obj_id;
    } obj_free;
    struct {
      jint arena_id;
      jobjectID obj_id;
      jint new_arena_id;
      jobjectID new_obj_id;
    } obj_move;
    struct {
      jint arena_id;
      const char* arena_name;
    } new_arena;
    struct {
      jint arena_id;
    } delete_arena;
    JVMPI_ThreadStart thread_start;
    JVMPI_HeapDump heap_dump;
    struct {
      jobjectID obj_id;
      jobject ref_id;
    } jni_globalref_alloc;
    struct {
      jobject ref_id;
    } jni_globalref_free;
    struct {
      jmethodID method_id;
    } method;
    struct {
      jmethodID method_id;
      jobjectID obj_id; /* NULL: a static method */
    } method_entry2;
    JVMPI_CompiledMethod compiled_method_load;
    struct {
      jmethodID method_id;
    } compiled_method_unload;
    struct {
      jmethodID method_id;
      jint offset;
      union {
        struct {
          jboolean is_true;
        } if_info;
        struct {
          jint key, low, hi;
        } tableswitch_info;
        struct {
          jint chosen_pair_index, pairs_total;
        } lookupswitch_info;
      } u;
    } instruction;
    JVMPI_MonitorDump monitor_dump;
    struct {
      const char* name;
      JVMPI_RawMonitor id;
    } raw_monitor;
    struct {
      jobjectID object;
    } monitor;
    struct {
      jobjectID object; /* NULL: Thread.sleep */
      jlong timeout;    /* milliseconds */
    } monitor_wait;
    struct {
      jlong used_objects; /* -1: not counted */
      jlong used_object_space;
      jlong total_object_space;
    } gc_info;
    struct {
      jint data_len;
      char* data;
    } object_dump;
  } u;
} JVMPI_Event;

typedef struct {
  jint version;
  void (*NotifyEvent)(JVMPI_Event* event); /* the agent's own */
  jint (*EnableEvent)(jint event_type, void* arg);
  jint (*DisableEvent)(jint event_type, void* arg);
  jint (*RequestEvent)(jint event_type, void* arg);
  void (*GetCallTrace)(JVMPI_CallTrace* trace, jint depth);
  void (*ProfilerExit)(jint exit_code);
  JVMPI_RawMonitor (*RawMonitorCreate)(char* name);
  void (*RawMonitorEnter)(JVMPI_RawMonitor monitor);
  void (*RawMonitorExit)(JVMPI_RawMonitor monitor);
  void (*RawMonitorWait)(JVMPI_RawMonitor monitor, jlong milliseconds);
  void (*RawMonitorNotifyAll)(JVMPI_RawMonitor monitor);
  void (*RawMonitorDestroy)(JVMPI_RawMonitor monitor);
  jlong (*GetCurrentThreadCpuTime)(void);
  void (*SuspendThread)(JNIEnv* env);
  void (*ResumeThread)(JNIEnv* env);
  jint (*GetThreadStatus)(JNIEnv* env);
  jboolean (*ThreadHasRun)(JNIEnv* env);
  jint (*CreateSystemThread)(char* name, jint priority, void (*body)(void*));
  void (*SetThreadLocalStorage)(JNIEnv* env, void* value);
  void* (*GetThreadLocalStorage)(JNIEnv* env);
  void (*DisableGC)(void);
  void (*EnableGC)(void);
  void (*RunGC)(void);
  jobjectID (*GetThreadObject)(JNIEnv* env);
  jobjectID (*GetMethodClass)(jmethodID method);
  /* From version 1.1 on. */
  jobject (*jobjectID2jobject)(jobjectID id);
  jobjectID (*jobject2jobjectID)(jobject object);
  /* From version 1.2 on. */
  void (*SuspendThreadList)(jint count, JNIEnv** threads, jint* results);
  void (*ResumeThreadList)(jint count, JNIEnv** threads, jint* results);
} JVMPI_Interface;

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L)
#ifdef __cplusplus
#define JVMPI_LAYOUT(condition) static_assert(condition, "as the old VMs laid it out")
#else
#define JVMPI_LAYOUT(condition) _Static_assert(condition, "as the old VMs laid it out")
#endif
/* Words of a pointer's size. */
#define JVMPI_AT(type, member, words) JVMPI_LAYOUT(offsetof(type, member) == (words) * sizeof(void*))
JVMPI_AT(JVMPI_CallFrame, method_id, 1);
JVMPI_AT(JVMPI_CallTrace, frames, 2);
JVMPI_LAYOUT(sizeof(JVMPI_Method) == (sizeof(void*) == 8 ? 32 : 20));
JVMPI_LAYOUT(sizeof(JVMPI_Lineno) == 8);
JVMPI_AT(JVMPI_Event, env_id, 1);
/* A jlong is aligned to 4 bytes by i386's Unix, to 8 by others: that of the VM that the agent was compiled
 * for. */
JVMPI_LAYOUT(offsetof(JVMPI_Event, u) == 8 || offsetof(JVMPI_Event, u) == 16);
JVMPI_LAYOUT(sizeof(void*) == 4 || offsetof(JVMPI_Event, u) == 16);
JVMPI_LAYOUT(offsetof(JVMPI_ClassLoad, class_id) == (sizeof(void*) == 8 ? 64 : 36));
JVMPI_LAYOUT(offsetof(JVMPI_ClassLoadHook, malloc_f) == (sizeof(void*) == 8 ? 32 : 16));
JVMPI_LAYOUT(offsetof(JVMPI_ObjectAlloc, obj_id) == (sizeof(void*) == 8 ? 24 : 16));
JVMPI_AT(JVMPI_ThreadStart, thread_env_id, 4);
JVMPI_AT(JVMPI_HeapDump, traces, 4);
JVMPI_LAYOUT(offsetof(JVMPI_CompiledMethod, lineno_table) == (sizeof(void*) == 8 ? 24 : 16));
JVMPI_AT(JVMPI_MonitorDump, threads_status, 4);
JVMPI_AT(JVMPI_Interface, NotifyEvent, 1);
JVMPI_AT(JVMPI_Interface, GetThreadLocalStorage, 20);
JVMPI_AT(JVMPI_Interface, ResumeThreadList, 29);
JVMPI_LAYOUT(sizeof(JVMPI_Interface) == 30 * sizeof(void*));
#undef JVMPI_AT
#undef JVMPI_LAYOUT
#endif

#endif
