/*
 * Draft: may change with any release.
 *
 * What a collector decides, while it is created, for every output of its session.
 */
#ifndef HPROF_DRAFT_OUTPUT_H
#define HPROF_DRAFT_OUTPUT_H

#include <hprof/abi.h>

#define HPROF_SERVICE_OUTPUT "hprof.draft.output/1"

typedef struct hprof_output_service {
  uint32_t size;
  uint32_t reserved;
  /* Threads are recorded without their names, which may be secrets. [onload] */
  void (*hide_thread_names)(const hprof_host* host);
  /* The outputs have this table only: hprof_rec_file_begin.alone. Static text. [onload] */
  void (*set_only_table)(const hprof_host* host, const char* name);
} hprof_output_service;

#endif
