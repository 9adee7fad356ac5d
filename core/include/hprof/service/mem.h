/* Memory, accounted against the session's budget (max-memory=). */
#ifndef HPROF_SERVICE_MEM_H
#define HPROF_SERVICE_MEM_H

#include <hprof/abi.h>

typedef struct hprof_mem_service {
  uint32_t size;
  uint32_t reserved;
  void* (*allocate)(const hprof_host* host, uint64_t bytes); /* zeroed, aligned to 16; NULL: budget. [onload][control][app] */
  void (*release)(const hprof_host* host, void* memory, uint64_t bytes);
  /* Address space that becomes memory page by page at first touch, zeroed. For fixed tables that mostly stay empty.
   * Not counted against the budget until touched. NULL: not available. [onload][control] */
  void* (*reserve)(const hprof_host* host, uint64_t bytes);
  void (*unreserve)(const hprof_host* host, void* memory, uint64_t bytes);
} hprof_mem_service;

#endif
