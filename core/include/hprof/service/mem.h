/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, accounted against the session's budget (max-memory=). */
#ifndef HPROF_SERVICE_MEM_H
#define HPROF_SERVICE_MEM_H

#include <hprof/abi.h>

#define HPROF_SERVICE_MEM "hprof.mem/1"

typedef struct hprof_mem_service {
  uint32_t size;
  uint32_t reserved;
  /* Zeroed memory, aligned to 16; NULL: no budget. [onload][control][app][heap][writer] */
  void* (*allocate)(const hprof_host* host, uint64_t bytes);
  void (*release)(const hprof_host* host, void* memory, uint64_t bytes);
  /* Address space that becomes memory page by page at first touch, zeroed. For fixed tables that mostly stay empty.
   * Not counted against the budget: charge each part before you touch it (hprof/cpp/lazy_table.hpp does). NULL: not
   * available. [onload][control][app][writer] */
  void* (*reserve)(const hprof_host* host, uint64_t bytes);
  void (*unreserve)(const hprof_host* host, void* memory, uint64_t bytes);
  /* charge takes bytes of reserved address space from the budget, uncharge gives them back. 0: too few are left;
   * nothing was taken. [onload][control][app][heap][writer] */
  uint32_t (*charge)(const hprof_host* host, uint64_t bytes);
  void (*uncharge)(const hprof_host* host, uint64_t bytes);
} hprof_mem_service;

#endif
