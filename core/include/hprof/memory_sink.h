/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access to the outputs that the sink_memory unit keeps: for programs that embed a VM, and for tests.
 *
 * The unit keeps each output in memory of this process (up to its memory-limit option) and offers this table as an
 * extension. A unit asks hprof_host.find_extension for it; an embedding program opens the library
 * .../hprof/plugins/sink_memory.so once more and calls hprof_memory_sink_of. The bytes live until discard, even after
 * the VM and the session have ended, since embedding programs read them then.
 */
#ifndef HPROF_MEMORY_SINK_H
#define HPROF_MEMORY_SINK_H

#include <hprof/plugin.h>

#define HPROF_EXTENSION_MEMORY_SINK "hprof.memory_sink/1"

#define HPROF_MEMORY_OPEN 1     /* being written */
#define HPROF_MEMORY_COMPLETE 2 /* closed, all is there */
#define HPROF_MEMORY_CUT 3      /* closed, the end is missing: the limit was reached, or the session broke off */

typedef struct hprof_memory_output {
  uint32_t size;  /* of this struct, set by the caller; members beyond it are left out */
  uint32_t state; /* HPROF_MEMORY_* */
  uint64_t bytes; /* kept so far */
  char name[256]; /* the target's address, cut to fit */
} hprof_memory_output;

/* Outputs have handles from 1, counted through the life of the library. Any number of threads may read outputs at any
 * time, but discard does not wait for them: its caller makes sure that no other thread reads that output. None of these
 * waits or allocates. [any] but [signal] */
typedef struct hprof_memory_sink {
  uint32_t size;
  uint32_t reserved;
  /* The handle of the newest output, 0 before the first. */
  uint32_t (*newest)(void);
  /* HPROF_UNSUPPORTED: no such output, or discarded. */
  hprof_status (*describe)(uint32_t handle, hprof_memory_output* output);
  /* Copies up to `size` bytes from `offset` on; returns how many: 0 at the end, and for outputs that are gone. */
  uint64_t (*copy)(uint32_t handle, uint64_t offset, void* bytes, uint64_t size);
  /* Frees a closed output. HPROF_FAILED: it is still being written. */
  hprof_status (*discard)(uint32_t handle);
  /* Sets the function that is called when an output has been closed, on the thread that closes it [writer][control]. It
   * may copy and discard. NULL: outputs that are closed later cause no call. Set it before the session starts. */
  void (*on_close)(void (*closed)(void* argument, uint32_t handle), void* argument);
} hprof_memory_sink;

static inline const hprof_memory_sink* hprof_memory_sink_of(const hprof_module* module) {
  return (const hprof_memory_sink*)hprof_extension_of(module, "sink_memory", HPROF_EXTENSION_MEMORY_SINK);
}

#endif
