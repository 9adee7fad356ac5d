/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink: bytes to somewhere. One instance per output.
 */
#ifndef HPROF_SINK_H
#define HPROF_SINK_H

#include <hprof/host.h>
#include <hprof/plugin.h>
#include <hprof/record.h>

/* hprof_sink_target.force. A file that a running process is writing is kept in any case. */
#define HPROF_EXISTING_KEEP 0    /* keep it; add the process id to the name of the new one */
#define HPROF_EXISTING_REPLACE 1 /* replace it, if it is a regular file of this user */
#define HPROF_EXISTING_NUMBER 2  /* keep it; give the new one the next free number */

/* The destination of an output, and how to open it. The struct and its texts are valid during the call. */
typedef struct hprof_sink_target {
  uint32_t size;
  uint32_t sequence;     /* 1 for the session's first output, then 2, 3 ... (%n) */
  const char* address;   /* file= or net= as typed, or the default file name with the encoder's suffix */
  uint32_t force;        /* HPROF_EXISTING_*: what to do when the file exists */
  uint32_t whole_only;   /* 1: a heap dump: if it is cut short, leave nothing that looks like a whole one */
  const char* host_name; /* this machine's, never NULL, "" where it has none */
  /* 1: verify the address, open nothing, wait for no peer, leave *self NULL; a call with 0 follows */
  uint32_t check_only;
  uint32_t reserved;
  /* the end of a file's name, which shows its type: the encoder's file_suffix, then the filter's; "": none */
  const char* suffix;
  const char* filter_suffix;
} hprof_sink_target;

typedef struct hprof_sink_ops {
  uint32_t size;
  uint32_t flags; /* HPROF_SINK_* */
  /* Opens. On failure it writes one line to error (error_size bytes, NUL terminated). HPROF_UNSUPPORTED: it can never
   * succeed, and is not tried again. */
  hprof_status (*open)(const hprof_host* host, const void* config, const hprof_sink_target* target, void** self,
                       char* error, uint32_t error_size); /* [onload][control] */
  /* Writes 1..size bytes; returns how many (partial writes are legal), or -1 with text in error: the output is gone
   * for good. Waits at most about timeout_ns, then returns 0. */
  int64_t (*write)(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
                   uint32_t error_size); /* [writer] */
  /* Everything is written; complete = 0 when the output was cut short. On failure text in error. */
  hprof_status (*close)(void* self, uint32_t complete, char* error, uint32_t error_size); /* [writer][control] */
  /* Duplex sinks: bytes that the other end sent. Waits up to timeout_ns; 0: nothing came, -1: the peer is gone.
   * NULL: output only. Called by one thread of its own, at the same time as write. */
  int64_t (*read)(void* self, uint8_t* bytes, uint64_t size, uint64_t timeout_ns); /* [control] */
  /* The name to show in messages; lives until close. */
  const char* (*name)(void* self); /* [any] */
  /* Overwrites `size` bytes that were written earlier, from `position` on; later writes still append. NULL: not
   * supported. */
  hprof_status (*patch)(void* self, uint64_t position, const uint8_t* bytes, uint64_t size, char* error,
                        uint32_t error_size); /* [writer] */
  /* Called around the bytes of each collector's report; bytes outside of the two belong to no report. Either may be
   * NULL. A filter before the sink is finished and restarted at both. end_report follows each begin_report that
   * answered HPROF_OK, before close; complete = 0: the report is incomplete, a write failed, or the
   * format could express none of its tables. On failure: text in error, and the output is gone. */
  hprof_status (*begin_report)(void* self, const hprof_report_info* info, char* error,
                               uint32_t error_size); /* [writer][control] */
  hprof_status (*end_report)(void* self, const hprof_report_info* info, uint32_t complete, char* error,
                             uint32_t error_size); /* [writer][control] */
  /* Deletes an output that this session wrote and closed, by its name (that of name()), once there are more than
   * keep-files=. NULL: not supported. On failure text in error. */
  hprof_status (*remove)(const hprof_host* host, const void* config, const char* name, char* error,
                         uint32_t error_size); /* [writer][control] */
} hprof_sink_ops;

/* hprof_sink_ops.flags, for sinks with begin_report */
/* Each report is delivered separately: the core creates a new encoder for it, so that it is a whole document. */
#define HPROF_SINK_WHOLE_REPORTS 0x1u

#endif
