/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core's side of a unit: settings and services. One hprof_host per unit; every service function takes it first.
 */
#ifndef HPROF_HOST_H
#define HPROF_HOST_H

#include <hprof/abi.h>

/* Settings that all units share, from the core's own options. Only depth can change (by command). */
typedef struct hprof_settings {
  uint32_t size;
  uint32_t depth;            /* frames kept of a trace */
  uint32_t line_numbers;     /* lineno= */
  uint32_t thread_in_traces; /* thread= */
  uint32_t verbose;          /* verbose= */
  uint32_t java_version;     /* 8, 11, 17 ... of the running VM; 0 without one */
  double cutoff;             /* cutoff=, 0..1 */
  uint64_t granted;          /* HPROF_NEED_* that the VM granted */
  uint64_t max_memory;       /* max-memory= in bytes, 0: no limit; size buffers by it */
  uint32_t attached;         /* 1: loaded into a running VM */
  uint32_t heap_form;        /* how the session's encoder takes the objects of a heap dump: HPROF_HEAP_* of record.h */
  uint32_t events;           /* 1: the output takes tables of events (HPROF_TABLE_EVENTS) */
  uint32_t reserved;
} hprof_settings;

struct hprof_host {
  uint32_t size;
  uint16_t abi_major;
  uint16_t abi_minor;
  const hprof_settings* settings;
  /* The table of a service, by the HPROF_SERVICE_* id in its header. "hprof.log/1" is frozen; "hprof.draft.NAME/n" may
   * change with any release, and its number with it. NULL when this core, build or platform does not have it. Lives as
   * long as the session. [any] but [signal] */
  const void* (*service)(const hprof_host* host, const char* id);
  /* A table that another unit of this session offers (hprof_unit.extension), by the unit's id (NULL: the first unit
   * that offers it) and the table's ("hprof.memory_sink/1"). NULL: no such unit is running, or it has no such table.
   * [any] but [signal] */
  const void* (*find_extension)(const hprof_host* host, const char* unit_id, const char* id);
};

#endif
