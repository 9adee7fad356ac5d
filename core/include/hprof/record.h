/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: what collectors emit and encoders write, independent of any format.
 *
 * A record starts with hprof_record; it has `member` if its size is at least HPROF_SIZE_TO(type, member). Strings,
 * classes, frames, traces and threads appear by number only; whoever needs their contents asks the ids service. The
 * pipeline writes the definition records (STRING, CLASS, FRAME, TRACE) itself, once per output and before the first
 * record that refers to them.
 */
#ifndef HPROF_RECORD_H
#define HPROF_RECORD_H

#include <hprof/abi.h>

typedef struct hprof_record {
  uint32_t size;    /* of the whole record struct */
  uint32_t kind;    /* HPROF_RECORD_* */
  uint64_t time_us; /* since the output's FILE_BEGIN; set by the core */
} hprof_record;

/* Each kind of record has a number (hprof_record.kind) and a name (in the lists of hprof_unit.records). A vendor's kind
 * has a name of its own, "com.acme.heat/1", and gets a number from HPROF_RECORD_REGISTERED on from the emit service's
 * kind(). */

/* The ends of an output, written by the core's pipeline */
#define HPROF_RECORD_FILE_BEGIN 1
#define HPROF_KIND_FILE_BEGIN "hprof.file_begin/1"
#define HPROF_RECORD_FILE_END 2
#define HPROF_KIND_FILE_END "hprof.file_end/1"
/* Definitions, written by the pipeline */
#define HPROF_RECORD_STRING 3
#define HPROF_KIND_STRING "hprof.string/1"
#define HPROF_RECORD_CLASS 4
#define HPROF_KIND_CLASS "hprof.class/1"
#define HPROF_RECORD_CLASS_UNLOAD 5
#define HPROF_KIND_CLASS_UNLOAD "hprof.class_unload/1"
#define HPROF_RECORD_FRAME 6
#define HPROF_KIND_FRAME "hprof.frame/1"
#define HPROF_RECORD_TRACE 7
#define HPROF_KIND_TRACE "hprof.trace/1"
/* Events of the session */
#define HPROF_RECORD_THREAD_START 8
#define HPROF_KIND_THREAD_START "hprof.thread_start/1"
#define HPROF_RECORD_THREAD_END 9
#define HPROF_KIND_THREAD_END "hprof.thread_end/1"
#define HPROF_RECORD_CONTROL_SETTINGS 10
#define HPROF_KIND_CONTROL_SETTINGS "hprof.control_settings/1"
#define HPROF_RECORD_NOTE 11
#define HPROF_KIND_NOTE "hprof.note/1"
/* Around each collector's report, written by the core; an encoder with no use for them leaves them out of its list */
#define HPROF_RECORD_REPORT_BEGIN 12
#define HPROF_KIND_REPORT_BEGIN "hprof.report_begin/1"
#define HPROF_RECORD_REPORT_END 13
#define HPROF_KIND_REPORT_END "hprof.report_end/1"
/* Data of the collectors. A table of numbers; lists may also name a table's schema */
#define HPROF_RECORD_TABLE 14
#define HPROF_KIND_TABLE "hprof.table/1"
#define HPROF_RECORD_MONITOR_WAIT 15
#define HPROF_KIND_MONITOR_WAIT "hprof.monitor_wait/1"
#define HPROF_RECORD_MONITOR_WAITED 16
#define HPROF_KIND_MONITOR_WAITED "hprof.monitor_waited/1"
#define HPROF_RECORD_MONITOR_DUMP 17
#define HPROF_KIND_MONITOR_DUMP "hprof.monitor_dump/1"
/* Heap dumps: HEAP_DUMP_BEGIN, then any number of roots, classes, instances and arrays, then HEAP_DUMP_END; nothing else in
 * between */
#define HPROF_RECORD_HEAP_DUMP_BEGIN 18
#define HPROF_KIND_HEAP_DUMP_BEGIN "hprof.heap_dump_begin/1"
#define HPROF_RECORD_HEAP_DUMP_END 19
#define HPROF_KIND_HEAP_DUMP_END "hprof.heap_dump_end/1"
#define HPROF_RECORD_HEAP_ROOT 20
#define HPROF_KIND_HEAP_ROOT "hprof.heap_root/1"
#define HPROF_RECORD_HEAP_CLASS 21
#define HPROF_KIND_HEAP_CLASS "hprof.heap_class/1"
#define HPROF_RECORD_HEAP_INSTANCE 22
#define HPROF_KIND_HEAP_INSTANCE "hprof.heap_instance/1"
#define HPROF_RECORD_HEAP_OBJECT_ARRAY 23
#define HPROF_KIND_HEAP_OBJECT_ARRAY "hprof.heap_object_array/1"
#define HPROF_RECORD_HEAP_PRIMITIVE_ARRAY 24
#define HPROF_KIND_HEAP_PRIMITIVE_ARRAY "hprof.heap_primitive_array/1"
/* All kinds of a heap dump, for a list */
#define HPROF_KINDS_OF_HEAP_DUMP                                                                     \
  HPROF_KIND_HEAP_DUMP_BEGIN, HPROF_KIND_HEAP_DUMP_END, HPROF_KIND_HEAP_ROOT, HPROF_KIND_HEAP_CLASS, \
      HPROF_KIND_HEAP_INSTANCE, HPROF_KIND_HEAP_OBJECT_ARRAY, HPROF_KIND_HEAP_PRIMITIVE_ARRAY
/* 25 is a draft's: hprof/draft/foreign_dump.h. Vendors' kinds begin at: */
#define HPROF_RECORD_REGISTERED 1024
#define HPROF_KIND_NAME_MOST 63 /* bytes of a name */

typedef struct hprof_rec_file_begin {
  hprof_record head;
  uint64_t created_ms; /* wall clock, milliseconds since 1970 */
  uint32_t id_size;    /* 4 or 8 bytes per object id */
  uint32_t heap_dump;  /* 1: a heap dump may follow (binary: version 1.0.2) */
  const char* alone;   /* name of the only table in this output; NULL: anything may come */
  uint64_t created_ns; /* the same moment on the clock service's monotonic clock */
} hprof_rec_file_begin;

/* FILE_END: head only. STRING, CLASS, CLASS_UNLOAD, FRAME, TRACE, THREAD_START, THREAD_END: */
typedef struct hprof_rec_definition {
  hprof_record head;
  uint32_t id; /* string id, class serial, frame id, trace serial or thread serial */
  uint32_t reserved;
} hprof_rec_definition;

typedef struct hprof_rec_control_settings {
  hprof_record head;
  uint32_t alloc_traces; /* 0 or 1 */
  uint32_t cpu_sampling; /* 0 or 1 */
  uint32_t depth;
  uint32_t reserved;
} hprof_rec_control_settings;

/* A line for the reader of the report: a loss, or how a number was obtained. Formats without a place for notes skip
 * them. */
typedef struct hprof_rec_note {
  hprof_record head;
  hprof_text text;
} hprof_rec_note;

/* --- reports ---------------------------------------------------------------------------------------------------- */

/* Why a report is made. */
#define HPROF_REPORT_EXIT 1    /* the VM ends */
#define HPROF_REPORT_REQUEST 2 /* a data dump request (SIGQUIT, jcmd) */
#define HPROF_REPORT_COMMAND 3 /* a socket or control command */
#define HPROF_REPORT_WINDOW 4  /* every=: a window is over */
/* One report of one collector, for encoders and sinks. Valid during the call; its texts live as long as the session. */
typedef struct hprof_report_info {
  uint32_t size;
  uint32_t sequence; /* 1 for the session's first report of a collector, then 2, 3 ... */
  uint32_t reason;   /* HPROF_REPORT_* */
  /* 1: everything since the window began; the next report's window begins at the same time, unless the collector is
   * reset. 0: only what is new since the collector's previous report or, with every=, its previous window; the window
   * begins there. */
  uint32_t cumulative;
  /* The window: from the beginning of the data to the report or, if that was earlier, the collector's stop. Wall clock
   * in nanoseconds since 1970, and the clock service's monotonic clock. */
  uint64_t begin_wall_ns, end_wall_ns;
  uint64_t begin_ns, end_ns;
  const char* unit;         /* id of the collector */
  const char* labels;       /* labels= as typed, "" */
  const char* suffix;       /* the encoder's file_suffix, "" */
  const char* content_type; /* the encoder's, "" */
  const char* host_name;    /* this machine's, "" where it has none */
  const char* program;      /* main class or jar, as the VM's launcher has it, without arguments; "": not known */
} hprof_report_info;

typedef struct hprof_rec_report { /* REPORT_BEGIN and _END */
  hprof_record head;
  const hprof_report_info* info; /* the same at both */
  /* hprof_status. At END the collector's answer: if it is not HPROF_OK, the report is incomplete. */
  int32_t status;
  uint32_t reserved;
} hprof_rec_report;

/* --- tables -------------------------------------------------------------------------------------------------------
 *
 * All numbers are passed as self-describing tables: the core's, vendors', and single measurements, which are tables of
 * one row. An encoder of weighted stacks needs to know no collector: see hprof/cpp/each_weighted_stack.hpp.
 * hprof/tables.h has the names and columns of the shipped collectors' tables; an encoder that formats some of them
 * specially recognises them by the schema's name. */

/* What the cells of a column hold, and in which member. */
#define HPROF_COLUMN_COUNT 1         /* u: a count of `unit` */
#define HPROF_COLUMN_NANOSECONDS 2   /* u */
#define HPROF_COLUMN_BYTES 3         /* u */
#define HPROF_COLUMN_INT 4           /* i: signed, in `unit` */
#define HPROF_COLUMN_REAL 5          /* r, in `unit` */
#define HPROF_COLUMN_TRACE 6         /* u: hprof_trace_serial; 0 is the empty trace */
#define HPROF_COLUMN_THREAD 7        /* u: hprof_thread_serial, 0: none */
#define HPROF_COLUMN_CLASS 8         /* u: hprof_class_serial, 0: none */
#define HPROF_COLUMN_METHOD 9        /* u: hprof_method_id, 0: none */
#define HPROF_COLUMN_FRAME 10        /* u: hprof_frame_id, 0: none */
#define HPROF_COLUMN_TEXT 11         /* u: hprof_string_id, 0: none */
#define HPROF_COLUMN_TIME 12         /* u: a moment, in nanoseconds of the clock service's monotonic() */
#define HPROF_COLUMN_THREAD_STATE 13 /* u: HPROF_STATE_UNKNOWN .. */
#define HPROF_COLUMN_ID 14           /* u: 8 bytes of an identifier, as a big-endian number; 0: none */

/* Flags of a column */
/* A weight of the row's stack, which its TRACE column names: it can be ranked, added up and drawn. COUNT, NANOSECONDS,
 * BYTES or REAL. */
#define HPROF_COLUMN_WEIGHT 0x1u
/* The weight includes what the innermost method called, so rows must not be added up. Without it a row has what belongs
 * to exactly its stack (self): the sum over all rows is the whole. */
#define HPROF_COLUMN_TOTAL 0x2u
/* The weight is the state when the report is made (live objects), not what happened over time (samples). A later report
 * replaces an earlier one; their sum or difference means nothing. */
#define HPROF_COLUMN_STATE 0x4u
/* The weight to show first, when the table has no order; at most one. */
#define HPROF_COLUMN_DEFAULT 0x8u
/* A CLASS or TEXT to draw as the top frame of the row's stack: what was allocated, or the monitor waited for. */
#define HPROF_COLUMN_LEAF 0x10u
/* A part of the row's key, such as a port or the upper bound of a bucket; no two rows of a table have the same key. Where
 * no column has it, the key is all columns from TRACE to TEXT. every= finds rows again by their key. */
#define HPROF_COLUMN_KEY 0x20u
/* Of an event: the NANOSECONDS that it took until its TIME. */
#define HPROF_COLUMN_DURATION 0x40u
/* The last 8 bytes of an identifier of 16 (a trace id), whose first 8 are in the column before. Both are of type ID. */
#define HPROF_COLUMN_CONTINUED 0x80u

typedef struct hprof_column {
  const char* name;  /* stable id: lower-case letters, digits, '_': "live_bytes" */
  const char* title; /* for the head of a table: a word or two; NULL: the name */
  uint32_t type;     /* HPROF_COLUMN_COUNT .. */
  uint32_t flags;    /* HPROF_COLUMN_WEIGHT .. */
  const char* unit;  /* of COUNT, INT, REAL: "samples", "calls", "percent"; NULL: none, or implied by the type */
  const char* help;  /* what it is, a sentence; may be NULL */
} hprof_column;

#define HPROF_TABLE_COLUMNS 64 /* the most that a table may have */
/* Lives as long as its unit; texts are static. */
typedef struct hprof_table_schema {
  uint32_t size;
  uint32_t column_count;
  uint32_t column_stride; /* sizeof(hprof_column) as its maker knows it */
  uint32_t reserved;
  const char* name;  /* stable id, with a version that changes with the columns' meaning: "com.acme.locks/1" */
  const char* title; /* for people: "LOCKS" */
  const hprof_column* columns;
} hprof_table_schema;

typedef union hprof_cell {
  uint64_t u;
  int64_t i;
  double r;
} hprof_cell;

#define HPROF_NO_COLUMN 0xffffffffu
/* Flags of a table */
#define HPROF_TABLE_CHANGES 0x1u /* only rows that have changed since the previous report */
/* Garbage was collected for this report: STATE columns cover reachable objects only. */
#define HPROF_TABLE_COLLECTED 0x2u
/* The rows are events, ordered by the first TIME column, which is required: the moment when the event was over. A
 * weight is that of the one event. When settings.events is 1, a collector passes events to emit->event() as they happen,
 * and reports its other tables all the same. The core gathers the rows of a schema into tables of up to
 * HPROF_EVENT_ROWS; a table may begin with rows that are older than the last ones of the table before. Only encoders with
 * HPROF_ENCODER_EVENTS get such tables, and no list of records names them. */
#define HPROF_TABLE_EVENTS 0x4u
#define HPROF_EVENT_ROWS 512
typedef struct hprof_rec_table {
  hprof_record head;
  const hprof_table_schema* schema;
  uint64_t created_ms; /* wall clock, milliseconds since 1970 */
  /* A cell for each column: for a weight the sum over all rows, those below the cutoff included; NULL: no sums. */
  const hprof_cell* totals;
  const hprof_cell* rows; /* in the order to show, after the cutoff; row i begins at byte i * row_stride */
  uint64_t row_count;
  uint32_t row_stride; /* a multiple of 8, at least 8 * column_count */
  uint32_t flags;      /* HPROF_TABLE_* */
  uint32_t order;      /* index of the column by which rows are ranked, largest first; HPROF_NO_COLUMN: not ranked */
  /* Of samples: one was taken for each `period` of what this column counts; HPROF_NO_COLUMN: no samples. */
  uint32_t period_column;
  uint64_t period;
  double cutoff; /* rows with less than this share (0..1) of order's total were left out */
} hprof_rec_table;

/* The most cells that the rows of a table have in an event (the emit service's event()). */
#define HPROF_ROW_CELLS 16

static inline const hprof_column* hprof_column_at(const hprof_table_schema* schema, uint32_t index) {
  return (const hprof_column*)(const void*)((const char*)schema->columns + (size_t)index * schema->column_stride);
}
static inline const hprof_cell* hprof_row_at(const hprof_rec_table* table, uint64_t index) {
  return (const hprof_cell*)(const void*)((const char*)table->rows + (size_t)(index * table->row_stride));
}

/* MONITOR_WAIT and MONITOR_WAITED */
typedef struct hprof_rec_monitor_event {
  hprof_record head;
  hprof_class_serial monitor; /* class of the monitor's object */
  hprof_thread_serial thread;
  uint64_t time_ms; /* WAIT: the timeout, 0: none; WAITED: how long the thread has waited */
} hprof_rec_monitor_event;

/* What a thread does */
#define HPROF_STATE_UNKNOWN 0
#define HPROF_STATE_NOT_STARTED 1
#define HPROF_STATE_RUNNABLE 2
#define HPROF_STATE_BLOCKED 3 /* waits to enter a monitor */
#define HPROF_STATE_WAITING 4 /* waits for another thread: Object.wait, parked, joined */
#define HPROF_STATE_SLEEPING 5
#define HPROF_STATE_ENDED 6
/* ... and flags of it */
#define HPROF_STATE_SUSPENDED 0x1u
#define HPROF_STATE_INTERRUPTED 0x2u
#define HPROF_STATE_NATIVE 0x4u /* in native code */

#define HPROF_OWNER_UNKNOWN 0xffffffffu
typedef struct hprof_dump_thread {
  hprof_thread_serial thread;
  hprof_trace_serial trace;
  uint32_t state; /* HPROF_STATE_UNKNOWN .. */
  uint32_t flags; /* HPROF_STATE_SUSPENDED .. */
} hprof_dump_thread;
typedef struct hprof_dump_monitor {
  hprof_class_serial monitor;
  hprof_thread_serial owner; /* 0: unowned; HPROF_OWNER_UNKNOWN: the VM cannot say */
  uint32_t entry_count;
  uint32_t enter_count, notify_count; /* lengths of the two lists */
  uint32_t reserved;
  const hprof_thread_serial* waiting_to_enter;
  const hprof_thread_serial* waiting_to_be_notified;
} hprof_dump_monitor;
typedef struct hprof_rec_monitor_dump {
  hprof_record head;
  uint64_t thread_count;
  const hprof_dump_thread* threads;
  uint64_t monitor_count;
  const hprof_dump_monitor* monitors;
  uint32_t thread_stride;  /* sizeof(hprof_dump_thread) as the record's maker knows it */
  uint32_t monitor_stride; /* sizeof(hprof_dump_monitor), the same */
} hprof_rec_monitor_dump;

static inline const hprof_dump_thread* hprof_dump_thread_at(const hprof_rec_monitor_dump* dump, uint64_t index) {
  return (const hprof_dump_thread*)(const void*)((const char*)dump->threads + (size_t)(index * dump->thread_stride));
}
static inline const hprof_dump_monitor* hprof_dump_monitor_at(const hprof_rec_monitor_dump* dump, uint64_t index) {
  return (const hprof_dump_monitor*)(const void*)((const char*)dump->monitors + (size_t)(index * dump->monitor_stride));
}

/* --- heap dumps ------------------------------------------------------------------------------------------------- */

/* Basic types, as the binary format numbers them */
#define HPROF_TYPE_OBJECT 2
#define HPROF_TYPE_BOOLEAN 4
#define HPROF_TYPE_CHAR 5
#define HPROF_TYPE_FLOAT 6
#define HPROF_TYPE_DOUBLE 7
#define HPROF_TYPE_BYTE 8
#define HPROF_TYPE_SHORT 9
#define HPROF_TYPE_INT 10
#define HPROF_TYPE_LONG 11

/* How an encoder takes the objects of a heap dump, as bits of heap_form; 0: bytes and fields. */
#define HPROF_HEAP_AS_BYTES 1u   /* hprof_rec_heap_instance.bytes */
#define HPROF_HEAP_AS_FIELDS 2u  /* hprof_rec_heap_instance.fields */
#define HPROF_HEAP_ONE_A_FILE 4u /* readers expect one dump per file: the core begins a new file for each */

typedef struct hprof_rec_heap_dump { /* HEAP_DUMP_BEGIN and _END */
  hprof_record head;
  uint64_t created_ms;
  uint64_t objects, bytes; /* of the heap, as far as known at BEGIN */
} hprof_rec_heap_dump;

/* Root kinds, as the binary format numbers them */
#define HPROF_ROOT_JNI_GLOBAL 0x01
#define HPROF_ROOT_JNI_LOCAL 0x02
#define HPROF_ROOT_JAVA_FRAME 0x03
#define HPROF_ROOT_NATIVE_STACK 0x04
#define HPROF_ROOT_STICKY_CLASS 0x05
#define HPROF_ROOT_THREAD_BLOCK 0x06
#define HPROF_ROOT_MONITOR_USED 0x07
#define HPROF_ROOT_THREAD_OBJECT 0x08
#define HPROF_ROOT_UNKNOWN 0xff
typedef struct hprof_rec_heap_root {
  hprof_record head;
  uint32_t root;              /* HPROF_ROOT_* */
  hprof_thread_serial thread; /* 0: none */
  hprof_object_id object;
  hprof_object_id reference; /* JNI_GLOBAL: the reference itself */
  int32_t frame;             /* number of the frame, innermost 0; -1: none */
  hprof_trace_serial trace;
  hprof_class_serial owner; /* STICKY_CLASS: the class */
  uint32_t reserved;
} hprof_rec_heap_root;

/* A field or constant: a reference as an id, other types as their bits, zero-extended */
typedef struct hprof_value {
  hprof_string_id name;
  uint16_t index; /* constant pool index */
  uint8_t type;   /* HPROF_TYPE_* */
  uint8_t reserved;
  uint64_t bits;
} hprof_value;
/* In the records of a heap dump `object` is the id of an object, `owner` its class, and `class_object` the id of that class's
 * java.lang.Class. In the record of a class, `owner` is the class and `object` its java.lang.Class. */
typedef struct hprof_rec_heap_class {
  hprof_record head;
  hprof_class_serial owner;
  hprof_trace_serial trace;
  hprof_object_id object, super, loader, signers, domain; /* 0: none */
  /* Bytes of all instance fields, those of superclasses included, as the binary format counts them. */
  uint32_t instance_size;
  uint16_t constant_count, static_count, field_count, reserved;
  const hprof_value* constants;
  const hprof_value* statics;
  const hprof_value* fields; /* of the class itself: name and type */
} hprof_rec_heap_class;

/* One object. Its fields come in the order of the binary format: the class's own first, then its superclass's; in
 * `bytes` big-endian, references as ids of the output's id size */
typedef struct hprof_rec_heap_instance {
  hprof_record head;
  hprof_object_id object, class_object;
  hprof_class_serial owner;
  hprof_trace_serial trace;
  uint64_t heap_bytes;  /* its size according to the VM */
  uint32_t field_count; /* of `fields` */
  uint32_t bytes_size;
  const hprof_value* fields;
  /* All fields as one run of bytes. Whichever of `fields` and `bytes` the encoder does not take may be NULL. */
  const uint8_t* bytes;
} hprof_rec_heap_instance;

typedef struct hprof_rec_heap_array { /* HEAP_OBJECT_ARRAY: elements are ids; HEAP_PRIMITIVE_ARRAY: native-endian values */
  hprof_record head;
  hprof_object_id object, class_object;
  hprof_class_serial owner;
  hprof_trace_serial trace;
  uint64_t heap_bytes;
  uint32_t length;      /* elements */
  uint32_t type;        /* HPROF_TYPE_* of the elements */
  const void* elements; /* uint64_t ids, or values of the type's width; NULL: left out (zeros) */
  /* An array too long for one buffer comes as several consecutive records: this one has `count` elements from `first`
   * on. 0 and 0: all of them. The parts come in order, without gaps and with no other record between them. */
  uint32_t first, count;
} hprof_rec_heap_array;

#endif
