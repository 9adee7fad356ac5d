/* What the collectors that break a rule share: a right report, and the row of a unit. */
#pragma once

#include <hprof/service/emit.h>

#include "misbehaving.h"

#define CELLS "com.wrong.cells/1"
static const char* const notes[] = {HPROF_KIND_NOTE, CELLS, NULL};

static inline hprof_status write_record(void* self, hprof_record* record) {
  return SERVICE(self, hprof_emit_service, HPROF_SERVICE_EMIT)->write((const hprof_host*)self, record);
}
static inline hprof_status report(void* self, const hprof_report* why) {
  static const char text[] = "a note of the misbehaving plugin";
  hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {text, sizeof(text) - 1}};
  (void)why;
  return write_record(self, &note.head);
}

#define HANDLERS(name, ...) static const hprof_handlers name = {.size = sizeof(hprof_handlers), __VA_ARGS__}
HANDLERS(none, .gc_start = NULL);

#define COLLECTOR_OPS(create_, start_, report_, handlers_)           \
  (&(const hprof_collector_ops){.size = sizeof(hprof_collector_ops), \
                                .create = create_,                   \
                                .start = start_,                     \
                                .report = report_,                   \
                                .reset = nothing,                    \
                                .stop = nothing,                     \
                                .destroy = nothing,                  \
                                .handlers = &handlers_})
#define COLLECTOR(id_, create_, start_, report_, handlers_, events_)                                     \
  MADE(id_, HPROF_UNIT_COLLECTOR, COLLECTOR_OPS(create_, start_, report_, handlers_), .events = events_, \
       .records = notes)
