/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * Counts that a HotSpot VM keeps, while hotspot= does not switch that off (docs/hotspot.md). Look it up in create.
 */
#ifndef HPROF_DRAFT_VM_COUNTS_H
#define HPROF_DRAFT_VM_COUNTS_H

#include <hprof/abi.h>

#define HPROF_SERVICE_VM_COUNTS "hprof.draft.vm_counts/1"

typedef struct hprof_vm_counts_service {
  uint32_t size;
  uint32_t reserved;
  /* With the Serial, Parallel and CMS collectors: the VM's own count of its collections, which goes up when one begins,
   * even without a JVMTI event. Lives as long as the VM. NULL: not known, or another collector. [control] */
  const uint32_t* (*collections)(const hprof_host* host);
  /* The VM's own count of unloaded classes. While it stays the same, every class, its number in object headers and the
   * addresses of its methods are still valid; unload events come later. Lives as long as the VM. NULL: not known.
   * [control] */
  const uint32_t* (*unloads)(const hprof_host* host);
} hprof_vm_counts_service;

#endif
