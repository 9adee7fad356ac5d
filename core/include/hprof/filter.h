/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter: bytes to other bytes, between encoder and sink. One instance per output.
 */
#ifndef HPROF_FILTER_H
#define HPROF_FILTER_H

#include <hprof/host.h>
#include <hprof/plugin.h>

/* Takes the filter's output. HPROF_ABORTED: the output is gone; the filter returns that, and stops. [writer] */
typedef hprof_status (*hprof_filter_pass)(void* context, const uint8_t* bytes, uint64_t size);

typedef struct hprof_filter_ops {
  uint32_t size;
  uint32_t reserved;
  /* On failure it writes one line to error (error_size bytes, NUL terminated). */
  hprof_status (*create)(const hprof_host* host, const void* config, void** self, char* error,
                         uint32_t error_size); /* [onload][control] */
  /* Takes all of the bytes, and calls `pass` any number of times with what is ready. [writer] */
  hprof_status (*write)(void* self, const uint8_t* bytes, uint64_t size, void* context, hprof_filter_pass pass);
  /* Ends the stream: passes on what is still buffered. Not called for an output that is cut short. [writer][control] */
  hprof_status (*finish)(void* self, void* context, hprof_filter_pass pass);
  void (*destroy)(void* self); /* [writer][control] */
  /* Suffix that follows the encoder's in the default file name: ".gz"; NULL: none. */
  const char* file_suffix;
} hprof_filter_ops;

#endif
