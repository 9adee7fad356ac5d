/*
 * Draft: may change with any release.
 *
 * Foreign bytes: a heap dump in the binary format that somebody else makes (the VM's own dumper), passed on while it is
 * made. Only the collector that passes it on and the encoder of that format know what its tags mean.
 */
#ifndef HPROF_DRAFT_FOREIGN_DUMP_H
#define HPROF_DRAFT_FOREIGN_DUMP_H

#include <hprof/record.h>

#define HPROF_SERVICE_FOREIGN_DUMP "hprof.draft.foreign_dump/1"

/* A record of the binary format, or a piece of one, instead of HEAP_DUMP_BEGIN, _END, what stands between the two, and of
 * definitions. Only for encoders that have its name in their list. */
#define HPROF_RECORD_FOREIGN_DUMP 27
#define HPROF_KIND_FOREIGN_DUMP "hprof.draft.foreign_dump/1"

/* Flags of it */
#define HPROF_FOREIGN_ENDS 0x1u /* the dump ends with it */
typedef struct hprof_rec_foreign_dump {
  hprof_record head;
  uint32_t tag;         /* of the binary format; 0: more bytes of the body that began before */
  uint32_t length;      /* of the whole body */
  const uint8_t* bytes; /* of the body, as many as there are by now */
  uint64_t size;
  uint32_t flags; /* HPROF_FOREIGN_* */
  uint32_t reserved;
} hprof_rec_foreign_dump;

typedef struct hprof_foreign_dump_service {
  uint32_t size;
  uint32_t reserved;
  /* 1: the session's encoder takes such records. [onload][control] */
  uint32_t (*is_taken)(const hprof_host* host);
  /* 1: bytes of the output that were written can be written again. [onload][control] */
  uint32_t (*is_patchable)(const hprof_host* host);
  /* Bytes of the output so far, those on their way included. Only inside report(). [control] */
  uint64_t (*position)(const hprof_host* host);
  /* Writes `size` bytes again that are part of the output, from `position` on. HPROF_UNSUPPORTED unless is_patchable.
   * Waits until they have been written the first time. Only inside report(). [control] */
  hprof_status (*patch)(const hprof_host* host, uint64_t position, const void* bytes, uint64_t size);
} hprof_foreign_dump_service;

#endif
