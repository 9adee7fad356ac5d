/* The operating system's books about threads: where their time went. On Solaris microstates, elsewhere the nearest thing. */
#ifndef HPROF_SERVICE_ACCOUNTING_H
#define HPROF_SERVICE_ACCOUNTING_H

#include <hprof/abi.h>

#define HPROF_SERVICE_ACCOUNTING "hprof.accounting/1"

#define HPROF_ACCOUNTING_COLUMNS 15 /* the most there are; more may come with later versions */
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
  /* Number `index`, with static texts; 0: there are not so many. [any] but [signal] */
  uint32_t (*column)(const hprof_host* host, uint32_t index, hprof_accounting_column* column);
  /* Asks the system to keep the books, where it wants to be asked. [control] */
  hprof_status (*start)(const hprof_host* host);
  /* Totals of a live thread since it began, of the first `count` columns, HPROF_NOT_ACCOUNTED where there is no such
   * book. Reads files: not for each sample. [app][control] */
  hprof_status (*read)(const hprof_host* host, uint64_t os_id, uint64_t* values, uint32_t count);
  /* What microstate accounting has and this system has not, a few words; "" where nothing is missing. [any] */
  const char* (*missing)(const hprof_host* host);
} hprof_accounting_service;

#endif
