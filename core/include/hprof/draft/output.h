/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * Settings of all outputs of a session, which a collector makes in create.
 */
#ifndef HPROF_DRAFT_OUTPUT_H
#define HPROF_DRAFT_OUTPUT_H

#include <hprof/abi.h>

#define HPROF_SERVICE_OUTPUT "hprof.draft.output/1"

typedef struct hprof_output_service {
  uint32_t size;
  uint32_t reserved;
  /* Records threads without their names, which may be secrets. [onload] */
  void (*hide_thread_names)(const hprof_host* host);
  /* Limits the outputs to this table (hprof_rec_file_begin.alone). Static text. [onload] */
  void (*set_only_table)(const hprof_host* host, const char* name);
} hprof_output_service;

#endif
