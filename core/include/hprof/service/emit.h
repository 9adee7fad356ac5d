/* Where records go. */
#ifndef HPROF_SERVICE_EMIT_H
#define HPROF_SERVICE_EMIT_H

#include <hprof/abi.h>
#include <hprof/record.h>

#define HPROF_SERVICE_EMIT "hprof.emit/1"

typedef struct hprof_emit_service {
  uint32_t size;
  uint32_t reserved;
  /* Queues a copy of a small record: at most sizeof(hprof_rec_row), without pointers into the caller's memory, but for
   * those of a table to its rows behind it (hprof_rec_row). Never waits; full: HPROF_DROPPED, counted;
   * without an output HPROF_UNSUPPORTED; HPROF_FAILED: the record is wrong, which has been said. [app][gc][control] */
  hprof_status (*event)(const hprof_host* host, const hprof_record* record);
  /* Writes a record of a report. The core writes what it refers to first. May wait for the sink up to its deadline.
   * What the output format has no place for is left out and counted: HPROF_OK. HPROF_ABORTED: the output is gone;
   * HPROF_UNSUPPORTED: no collector of the session has an output (HPROF_UNIT_NO_OUTPUT); HPROF_FAILED: the record is
   * wrong, which has been said. Only inside report(). [control][heap] */
  hprof_status (*write)(const hprof_host* host, hprof_record* record); /* sets time_us */
  /* Writes a definition (kind STRING, CLASS, FRAME, TRACE or THREAD_START, and its number) now, unless this output has
   * it already. Records define what they refer to by themselves; heap dump records do not, since nothing may stand
   * between them: define before HEAP_DUMP_BEGIN. Only inside report(). [control] */
  hprof_status (*define)(const hprof_host* host, uint32_t kind, uint32_t id);
  /* Says that a long report gets on though nothing is written. At the VM's end a heap dump that gets on is waited for
   * beyond exit-timeout=. Cheap, but not for every object. Only inside report(). [control][heap] */
  void (*progress)(const hprof_host* host);
  /* The number of a kind of records, one of the core's or a vendor's "com.acme.heat/1"; the same for all units of the
   * session, whoever asks first. 0: no name, or too many kinds. In create or start. Such a record is written like any
   * other; what it refers to is defined by who writes it. [onload][control] */
  uint32_t (*kind)(const hprof_host* host, const char* name);
} hprof_emit_service;

#endif
