/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * The VM's own heap dumper, run from inside the process. Not on every platform, VM and set of VM options.
 */
#ifndef HPROF_DRAFT_VM_DUMP_H
#define HPROF_DRAFT_VM_DUMP_H

#include <hprof/abi.h>

#define HPROF_SERVICE_VM_DUMP "hprof.draft.vm_dump/1"

/* Takes bytes of the dump as the VM writes them. The VM is at a safepoint and waits for it: be quick. stream 0: the
 * dump; VMs that write the objects separately (22 and later) send their heap dump segments, in one piece, as stream 1.
 * The callback may change the bytes in place. The first call comes early in the dump: no object moves or is freed until
 * it returns. Any answer but HPROF_OK stops the calls; the rest is read and discarded. [control] */
typedef hprof_status (*hprof_vm_dump_take)(void* argument, uint32_t stream, uint8_t* bytes, uint64_t size);

typedef struct hprof_vm_dump_service {
  uint32_t size;
  uint32_t reserved;
  /* 1: a dump seems possible; only run() can prove it. 0: the reason is in error. [control] */
  uint32_t (*available)(const hprof_host* host, char* error, uint32_t error_size);
  /* Makes the VM dump its heap into `take`, which runs on the calling thread. all = 1: unreachable objects, too; 0: the
   * VM collects garbage first. Nothing touches a disk. The calling thread must not be one that serves the VM's
   * attach or signal requests. HPROF_UNSUPPORTED: the VM does not do it, and nothing was taken; HPROF_ABORTED: take
   * refused bytes; HPROF_FAILED: it broke off. The reason is in error (error_size bytes, NUL terminated). [control] */
  hprof_status (*run)(const hprof_host* host, uint32_t all, void* argument, hprof_vm_dump_take take, char* error,
                      uint32_t error_size);
} hprof_vm_dump_service;

#endif
