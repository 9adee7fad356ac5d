/* SPDX-License-Identifier: Apache-2.0 */
/* Passes records to the output. */
#ifndef HPROF_SERVICE_EMIT_H
#define HPROF_SERVICE_EMIT_H

#include <hprof/abi.h>
#include <hprof/record.h>

#define HPROF_SERVICE_EMIT "hprof.emit/1"

typedef struct hprof_emit_service {
  uint32_t size;
  uint32_t reserved;
  /* Queues a copy of a small record without pointers into the caller's memory. The rows of a table are copied, too, at
   * most HPROF_ROW_CELLS cells; the table has no totals. Events (HPROF_TABLE_EVENTS) are gathered. Never waits.
   * HPROF_DROPPED: the queue is full, or the record does not fit, and the loss has been counted; HPROF_UNSUPPORTED:
   * there is no output; HPROF_FAILED: the record is invalid, as a message says. [app][gc][control] */
  hprof_status (*event)(const hprof_host* host, const hprof_record* record);
  /* Writes a record of a report, after the definitions that it refers to. May wait for the sink, up to a deadline. A
   * record that the output format has no place for is left out and counted, and the answer is HPROF_OK. HPROF_ABORTED:
   * the output is gone; HPROF_UNSUPPORTED: no collector of the session has an output (HPROF_UNIT_NO_OUTPUT);
   * HPROF_FAILED: the record is invalid, as a message says. Only inside report(): a handler or a thread of the unit's own
   * does not call it, even while report() runs. [control][heap] */
  hprof_status (*write)(const hprof_host* host, hprof_record* record); /* sets time_us */
  /* Writes a definition (kind STRING, CLASS, FRAME, TRACE or THREAD_START, and its number) now, unless this output has
   * it already. write() does this for what a record refers to, except for heap dump records, between which nothing may
   * come: define before HEAP_DUMP_BEGIN. Only inside report(). [control] */
  hprof_status (*define)(const hprof_host* host, uint32_t kind, uint32_t id);
  /* Tells the core that a long report makes progress although it writes nothing. At the VM's end a heap dump that makes
   * progress may take longer than exit-timeout=. Call it every few thousand objects, not for each. Only inside report().
   * [control][heap] */
  void (*progress)(const hprof_host* host);
  /* The number of a kind of record, the core's or a vendor's "com.acme.heat/1"; the same for all units of the session.
   * 0: not a valid name, or too many kinds. Call it in create or start. Such a record is written like any other, but
   * its writer defines what it refers to. [onload][control] */
  uint32_t (*kind)(const hprof_host* host, const char* name);
} hprof_emit_service;

#endif
