/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * A heap dump that the VM's own dumper makes, passed on while it is made. The collector hands over the bytes as they
 * come; the encoder of their format parses them, and writes them in the order and with the contents that its readers
 * expect.
 */
#ifndef HPROF_DRAFT_FOREIGN_DUMP_H
#define HPROF_DRAFT_FOREIGN_DUMP_H

#include <hprof/record.h>

#define HPROF_SERVICE_FOREIGN_DUMP "hprof.draft.foreign_dump/2"

/* Bytes of such a dump. They replace HEAP_DUMP_BEGIN, HEAP_DUMP_END, everything between the two, and definitions. Only
 * for encoders that list this kind; they may allocate from the first such record of a dump to its last. */
#define HPROF_RECORD_FOREIGN_DUMP 25
#define HPROF_KIND_FOREIGN_DUMP "hprof.draft.foreign_dump/2"

/* hprof_foreign_dump.flags: what to redact. Values become zeros, strings are left out */
#define HPROF_FOREIGN_NO_FIELDS 0x1u  /* primitive fields */
#define HPROF_FOREIGN_NO_ARRAYS 0x2u  /* elements of arrays of primitives */
#define HPROF_FOREIGN_NO_TEXT 0x4u    /* elements of char[] and byte[] */
#define HPROF_FOREIGN_NO_STRINGS 0x8u /* strings that do not name a class, method, field or source file */
/* The dump's objects come separately */
#define HPROF_FOREIGN_APART 0x10u /* as stream 1, see hprof_vm_dump_take */

/* A dump. The collector owns it and does not move it between its first record and its last. */
typedef struct hprof_foreign_dump {
  uint32_t size;
  uint32_t flags; /* HPROF_FOREIGN_NO_FIELDS .. */
  /* The trace in which the object at that address was allocated, defined before the dump; 0: not known. Called once for
   * each object. NULL: no traces are known. [writer] */
  hprof_trace_serial (*trace_of)(void* argument, uint64_t address);
  void* argument;
  /* Set by the encoder: objects so far, and how many of them have a trace; why it refused, static text, or NULL */
  uint64_t objects;
  uint64_t traced;
  const char* failure;
  /* The serial of the thread whose object is at that address; 0: not known. Called once for each thread. NULL: no threads
   * are known. [writer] */
  hprof_thread_serial (*thread_of)(void* argument, uint64_t address);
} hprof_foreign_dump;

/* Flags of a record */
/* The first of its dump; may have no bytes. An encoder that has no memory for the dump sets its failure and takes no
 * more of it */
#define HPROF_FOREIGN_BEGINS 0x1u
#define HPROF_FOREIGN_ENDS 0x2u   /* the last: all bytes have come */
#define HPROF_FOREIGN_BROKEN 0x4u /* the last of a dump that broke off */
typedef struct hprof_rec_foreign_dump {
  hprof_record head;
  hprof_foreign_dump* dump;
  uint32_t stream; /* see hprof_vm_dump_take */
  uint32_t flags;  /* HPROF_FOREIGN_BEGINS .. */
  uint8_t* bytes;  /* the next of that stream; the encoder may change them */
  uint64_t size;
} hprof_rec_foreign_dump;

typedef struct hprof_foreign_dump_service {
  uint32_t size;
  uint32_t reserved;
  /* 1: the session's encoder takes such records, and its output takes that many streams (1 or 2). [onload][control] */
  uint32_t (*is_taken)(const hprof_host* host, uint32_t streams);
} hprof_foreign_dump_service;

#endif
