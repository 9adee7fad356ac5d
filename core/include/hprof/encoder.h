/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An encoder: records to bytes. Pure: no I/O, no clock, no allocation after create, no state beyond its self.
 *
 * The core passes one record at a time. Every definition (string, class, frame, trace) that a record refers to comes
 * before it, once per output; an encoder that gets names from the ids service leaves definitions out of its
 * hprof_unit.records. An encoder that makes a document of each report begins it at REPORT_BEGIN and ends it at
 * REPORT_END; records outside of these two are events.
 */
#ifndef HPROF_ENCODER_H
#define HPROF_ENCODER_H

#include <hprof/host.h>
#include <hprof/plugin.h>
#include <hprof/record.h>

/* The buffer that an encoder writes to, owned by the core and valid during the call. */
typedef struct hprof_out {
  uint32_t size;
  uint32_t reserved;
  uint8_t* at;  /* write here, and advance it */
  uint8_t* end; /* the room ends here */
  /* Hands over what was written and makes room for `need` bytes (at most HPROF_OUT_MOST); call it when fewer are left.
   * HPROF_ABORTED: the output is gone; return that, and stop. May wait for the sink, up to a deadline. */
  hprof_status (*more)(struct hprof_out* out, uint32_t need);
  /* Appends HPROF_OUT_LARGE bytes or more without a copy. When it returns, `bytes` is no longer used, and `at` and
   * `end` have changed. HPROF_UNSUPPORTED: not now, write them to `at`; HPROF_ABORTED: as above. */
  hprof_status (*through)(struct hprof_out* out, const uint8_t* bytes, uint64_t size);
  /* Bytes of the output so far, up to `at`. */
  uint64_t (*position)(struct hprof_out* out);
  /* At FILE_END and the end of a foreign dump: overwrites earlier bytes of the output, from `position` on; changes `at`
   * and `end`. NULL or HPROF_UNSUPPORTED: not possible; HPROF_ABORTED: as above. */
  hprof_status (*patch)(struct hprof_out* out, uint64_t position, const void* bytes, uint64_t size);
} hprof_out;
#define HPROF_OUT_MOST 4096u
#define HPROF_OUT_LARGE 65536u

typedef struct hprof_encoder_ops {
  uint32_t size;
  uint32_t flags; /* HPROF_ENCODER_* */
  /* One per output, but see HPROF_ENCODER_EVENTS. On failure it writes one line to error (error_size bytes, NUL
   * terminated, empty at first) and frees what it has allocated; nothing else is called then. [onload][control] */
  hprof_status (*create)(const hprof_host* host, const void* config, void** self, char* error,
                         uint32_t error_size);
  /* An unknown kind: HPROF_UNSUPPORTED. [writer] */
  hprof_status (*encode)(void* self, const hprof_record* record, hprof_out* out);
  void (*destroy)(void* self); /* [control] */
  /* Suffix of the default output file: ".txt" or "". */
  const char* file_suffix;
  uint32_t heap_form; /* HPROF_HEAP_* */
  /* The depth of traces that its readers need, used if depth= is not given; 0: any. */
  uint32_t least_depth;
  /* The MIME type, as in "text/plain"; NULL: unknown. */
  const char* content_type;
  /* The default of compress= where the build has that filter; NULL: none. */
  const char* compress;
} hprof_encoder_ops;

/* least_depth of an encoder whose readers want whole stacks. */
#define HPROF_WHOLE_DEPTH 512u

/* hprof_encoder_ops.flags */
/* Each report is a document, and readers expect one per file: the core begins a new file for each. Sinks with
 * hprof_sink_ops.begin_report separate the reports themselves. */
#define HPROF_ENCODER_DOCUMENTS 0x1u
/* The encoder takes tables of events (HPROF_TABLE_EVENTS), between reports and within them. With _DOCUMENTS events
 * belong to the next report: one encoder, which keeps them until then, writes all outputs of the session. */
#define HPROF_ENCODER_EVENTS 0x2u
/* As HPROF_ENCODER_EVENTS, but only with events=y: settings.events says whether there are any. */
#define HPROF_ENCODER_EVENTS_ASKED 0x4u
/* The encoder refuses tables without stacks (HPROF_UNSUPPORTED), and no others. The core says when a report has no
 * other tables. */
#define HPROF_ENCODER_STACKS 0x8u

#endif
