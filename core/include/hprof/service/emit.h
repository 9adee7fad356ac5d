/* Where records go. */
#ifndef HPROF_SERVICE_EMIT_H
#define HPROF_SERVICE_EMIT_H

#include <hprof/abi.h>
#include <hprof/record.h>

typedef struct hprof_emit_service {
  uint32_t size;
  uint32_t reserved;
  /* Queues a copy of a small record (no pointers into the caller's memory but static text). Never waits; full:
   * HPROF_DROPPED, counted. [app][gc][control] */
  hprof_status (*event)(const hprof_host* host, const hprof_record* record);
  /* Writes a record of a report. The core writes what it refers to first. May wait for the sink up to its deadline.
   * HPROF_ABORTED: the output is gone. Only inside report(). [control][heap] */
  hprof_status (*write)(const hprof_host* host, const hprof_record* record);
  /* Makes a record kind of the vendor's own. The schema is static data. 0: too many (32). [onload] */
  uint32_t (*vendor_kind)(const hprof_host* host, const hprof_schema* schema);
} hprof_emit_service;

#endif
