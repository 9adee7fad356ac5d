/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draft: may change with any release.
 *
 * Native libraries that a unit works with: other agents, a vendor's own. NULL service: this build loads none.
 */
#ifndef HPROF_DRAFT_LIBRARY_H
#define HPROF_DRAFT_LIBRARY_H

#include <hprof/abi.h>

#define HPROF_SERVICE_LIBRARY "hprof.draft.library/1"

typedef struct hprof_library hprof_library;

typedef struct hprof_library_service {
  uint32_t size;
  uint32_t reserved;
  /* Loads the library at `path` (as dlopen with RTLD_NOW and RTLD_LOCAL) and runs its constructors. It is never
   * unloaded; the same path gives the same library. NULL: failed, with the linker's message in error (error_size bytes,
   * NUL terminated). [onload][control] */
  const hprof_library* (*open)(const hprof_host* host, const char* path, char* error, uint32_t error_size);
  /* The address of an exported symbol, NULL: none. library == NULL: of the VM's own library. [onload][control] */
  void* (*symbol)(const hprof_host* host, const hprof_library* library, const char* name);
} hprof_library_service;

#endif
