/* SPDX-License-Identifier: Apache-2.0 */
/* Where threads spent their time, as the operating system accounts for it: Solaris' microstates, elsewhere the closest
 * equivalent. */
#ifndef HPROF_SERVICE_ACCOUNTING_H
#define HPROF_SERVICE_ACCOUNTING_H

#include <hprof/abi.h>

#define HPROF_SERVICE_ACCOUNTING "hprof.accounting/1"

#define HPROF_ACCOUNTING_COLUMNS 15 /* no system has more; later versions may */
#define HPROF_NOT_ACCOUNTED UINT64_MAX

typedef struct hprof_accounting_column {
  uint32_t size;        /* set by the caller */
  uint32_t nanoseconds; /* 1: of time, 0: a count */
  const char* name;     /* lower case, no blanks: "lock_wait" */
  const char* help;     /* what it is, a few words */
} hprof_accounting_column;

typedef struct hprof_accounting_service {
  uint32_t size;
  uint32_t reserved;
  /* Describes column `index`, with static texts; 0: there is no such column. [any] but [signal] */
  uint32_t (*column)(const hprof_host* host, uint32_t index, hprof_accounting_column* column);
  /* Switches accounting on, where the system has it off. [control] */
  hprof_status (*start)(const hprof_host* host);
  /* Totals of a live thread since it began, for the first `count` columns; HPROF_NOT_ACCOUNTED: not available. Reads
   * files: too slow for each sample. [app][control] */
  hprof_status (*read)(const hprof_host* host, uint64_t os_id, uint64_t* values, uint32_t count);
  /* What this system lacks of microstate accounting, a few words; "": nothing. [any] */
  const char* (*missing)(const hprof_host* host);
} hprof_accounting_service;

#endif
