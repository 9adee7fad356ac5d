/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * HotSpot's compiled code, and stacks of interrupted threads. The service offers what has been verified in the running VM
 * and is not switched off by hotspot= (docs/hotspot.md).
 */
#ifndef HPROF_DRAFT_CODE_H
#define HPROF_DRAFT_CODE_H

#include <hprof/abi.h>

#define HPROF_SERVICE_CODE "hprof.draft.code/1"

typedef struct hprof_code_service {
  uint32_t size;
  uint32_t reserved;
  /* Makes the VM's compilers record the position of every instruction (the flag DebugNonSafepoints) in code that they
   * compile from now on, so that stacks of interrupted code are exact. 0: not done. [onload] */
  uint32_t (*be_precise)(const hprof_host* host);
  /* The VM's AsyncGetCallTrace, or NULL. It requires HPROF_EVENT_CLASS_LOAD and jmethodIDs that exist already.
   * [control] */
  void* (*async_get_call_trace)(const hprof_host* host);
  /* The jmethodID of the compiled method (nmethod) that contains pc; NULL: none, or not known. The code must exist
   * during the call: call it on the thread that runs it, while hprof_sampling_service.install is in force. [signal] */
  void* (*method_at)(const hprof_host* host, uint64_t pc);
} hprof_code_service;

#endif
