/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * The flags of a HotSpot VM (-XX:...), while hotspot= does not switch that off (docs/hotspot.md).
 */
#ifndef HPROF_DRAFT_VM_FLAGS_H
#define HPROF_DRAFT_VM_FLAGS_H

#include <hprof/abi.h>

#define HPROF_SERVICE_VM_FLAGS "hprof.draft.vm_flags/1"

typedef struct hprof_vm_flags_service {
  uint32_t size;
  uint32_t reserved;
  /* Copies the first `size` bytes of the value of a flag of the VM, -XX:<name>, at most as many as it has. 0: not known.
   * [onload][control] */
  uint32_t (*read)(const hprof_host* host, const char* name, void* value, uint32_t size);
} hprof_vm_flags_service;

#endif
