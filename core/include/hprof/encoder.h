/*
 * An encoder: records to bytes. Pure: no I/O, no clock, no allocation after create, no state beyond its self.
 *
 * The core calls it for one record at a time and has written every definition (string, class, frame, trace) that the
 * record refers to before it, each once per output; an encoder that asks the ids service for names leaves definitions out
 * of its hprof_unit.records. One that makes a document of each report begins it at REPORT_BEGIN and ends it at
 * REPORT_END; what comes outside of the two are events.
 */
#ifndef HPROF_ENCODER_H
#define HPROF_ENCODER_H

#include <hprof/host.h>
#include <hprof/plugin.h>
#include <hprof/record.h>

/* Where the bytes go. */
typedef struct hprof_out {
  uint32_t size;
  uint32_t reserved;
  uint8_t* at;  /* write here ... */
  uint8_t* end; /* ... up to here, and move `at`; */
  /* when fewer than `need` bytes (at most HPROF_OUT_MOST) are left: hands over what was written and makes room.
   * HPROF_ABORTED: the output is gone; the encoder returns it and stops. May wait for the sink, with a deadline. */
  hprof_status (*more)(struct hprof_out* out, uint32_t need);
  /* Takes bytes behind those written so far without a copy; done when it returns, and `at` and `end` are others. For
   * HPROF_OUT_LARGE bytes and more. HPROF_UNSUPPORTED: not now, write them here; HPROF_ABORTED: as above. */
  hprof_status (*through)(struct hprof_out* out, const uint8_t* bytes, uint64_t size);
  /* Bytes of the output so far, up to `at`. */
  uint64_t (*position)(struct hprof_out* out);
  /* At FILE_END and the end of a foreign dump: writes bytes of the output again, from `position` on; `at` and `end` are
   * others then. NULL, HPROF_UNSUPPORTED: what was written stays; HPROF_ABORTED: as above. */
  hprof_status (*patch)(struct hprof_out* out, uint64_t position, const void* bytes, uint64_t size);
} hprof_out;
#define HPROF_OUT_MOST 4096u
#define HPROF_OUT_LARGE 65536u

typedef struct hprof_encoder_ops {
  uint32_t size;
  uint32_t reserved;
  /* One per output. On failure says why: one line of text in error (error_size bytes, NUL terminated, empty at first),
   * and has given back what it made: nothing else is called then. [onload][control] */
  hprof_status (*create)(const hprof_host* host, const void* config, void** self, char* error,
                         uint32_t error_size);
  hprof_status (*encode)(void* self, const hprof_record* record, hprof_out* out); /* [writer] unknown kinds: HPROF_UNSUPPORTED */
  void (*destroy)(void* self);                                                    /* [control] */
  const char* file_suffix;                                                        /* of the default output file: ".txt" or "" */
  uint32_t heap_form;                                                             /* HPROF_HEAP_* */
  uint32_t least_depth;                                                           /* depth of traces that it needs, used
                                                                                     where depth= was not given; 0: any */
  const char* content_type;                                                       /* "text/plain"; NULL: not said */
  uint32_t flags;                                                                 /* HPROF_ENCODER_* */
  uint32_t reserved2;
  const char* compress; /* what compress= is where the user does not say, if this build has it; NULL: nothing */
} hprof_encoder_ops;

/* least_depth of an encoder whose readers want whole stacks. */
#define HPROF_WHOLE_DEPTH 512u

/* Flags of an encoder */
/* It makes a document of each report, and readers want one in a file: the core begins a new file for each. A sink that is
 * told of reports (hprof_sink_ops.begin_report) tells them apart itself. */
#define HPROF_ENCODER_DOCUMENTS 0x1u

#endif
