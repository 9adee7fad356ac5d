/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc=pauses: how often the collector stopped the VM and for how long. A vendor's plugin in C: one collector
 * with an option, two event handlers and a table of its own. Built against the installed headers, see
 * CMakeLists.txt.
 */
#include <stdio.h>
#include <string.h>

#include <hprof/collector.h>
#include <hprof/record.h>
#include <hprof/service/clock.h>
#include <hprof/service/emit.h>
#include <hprof/service/mem.h>

#include "pause_stats.h"

/* Measured is the time between the VM's two events: of a concurrent collector the pauses, not its concurrent
 * work. */
typedef struct config {
  uint64_t least_ns;
} config;

typedef struct gc_pauses {
  const hprof_host* host;
  const hprof_clock_service* clock;
  const hprof_emit_service* emit;
  pause_stats stats;
} gc_pauses;

#define COUNT(name, what) \
  { name, NULL, HPROF_COLUMN_COUNT, 0, what, NULL }
#define TIME(name, what) \
  { name, NULL, HPROF_COLUMN_NANOSECONDS, 0, NULL, what }
static const hprof_column columns[] = {
    COUNT("starts", "collections"),
    COUNT("pauses", "pauses"),
    TIME("total_ns", "of all pauses"),
    TIME("max_ns", "of the longest"),
    TIME("p50_ns", "half of the pauses are not longer"),
    TIME("p90_ns", "nine of ten"),
    TIME("p99_ns", "99 of a hundred"),
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))
#define TABLE_NAME "example.gc_pauses/1"
static const hprof_table_schema schema = {
    .size = sizeof(hprof_table_schema),
    .column_count = COLUMNS,
    .column_stride = sizeof(hprof_column),
    .name = TABLE_NAME,
    .title = "GC PAUSES",
    .columns = columns,
};

static const void* service(const hprof_host* host, const char* id) { return host->service(host, id); }

/* [onload] */
static hprof_status create(const hprof_host* host, const void* options, void** self, char* error,
                           uint32_t error_size) {
  const hprof_mem_service* mem = service(host, HPROF_SERVICE_MEM);
  const hprof_clock_service* clock = service(host, HPROF_SERVICE_CLOCK);
  const hprof_emit_service* emit = service(host, HPROF_SERVICE_EMIT);
  gc_pauses* made;
  if (!HPROF_HAS(mem, hprof_mem_service, release) || !HPROF_HAS(clock, hprof_clock_service, monotonic) ||
      !HPROF_HAS(emit, hprof_emit_service, write)) {
    snprintf(error, error_size, "this core lacks the services mem, clock or emit");
    return HPROF_UNSUPPORTED;
  }
  made = mem->allocate(host, sizeof(gc_pauses));
  if (made == NULL) return HPROF_NO_MEMORY;
  made->host = host;
  made->clock = clock;
  made->emit = emit;
  made->stats.least_ns = ((const config*)options)->least_ns;
  *self = made;
  return HPROF_OK;
}

/* The handlers run from here until stop has returned; nothing else has to be started or stopped. [control] */
static hprof_status start(void* self) {
  (void)self;
  return HPROF_OK;
}
static void stop(void* self) { (void)self; }

/* [control] */
static hprof_status report(void* self, const hprof_report* why) {
  gc_pauses* me = self;
  const pause_summary sum = pause_stats_read(&me->stats);
  hprof_cell cells[COLUMNS];
  hprof_rec_table table;
  (void)why;
  cells[0].u = sum.starts;
  cells[1].u = sum.count;
  cells[2].u = sum.total_ns;
  cells[3].u = sum.max_ns;
  cells[4].u = sum.p50_ns;
  cells[5].u = sum.p90_ns;
  cells[6].u = sum.p99_ns;
  memset(&table, 0, sizeof(table));
  table.head.size = sizeof(table);
  table.head.kind = HPROF_RECORD_TABLE;
  table.schema = &schema;
  table.created_ms = me->clock->wall_ms(me->host);
  table.rows = cells;
  table.row_count = 1;
  table.row_stride = sizeof(cells);
  table.order = table.period_column = HPROF_NO_COLUMN;
  return me->emit->write(me->host, &table.head);
}

static void reset(void* self) { pause_stats_reset(&((gc_pauses*)self)->stats); }

/* [control] */
static void destroy(void* self) {
  gc_pauses* me = self;
  const hprof_mem_service* mem = service(me->host, HPROF_SERVICE_MEM);
  mem->release(me->host, me, sizeof(*me));
}

/* [gc] */
static void gc_start(void* self) {
  gc_pauses* me = self;
  pause_stats_begin(&me->stats, me->clock->monotonic(me->host));
}
static void gc_finish(void* self) {
  gc_pauses* me = self;
  pause_stats_end(&me->stats, me->clock->monotonic(me->host));
}

static const hprof_handlers handlers = {
    .size = sizeof(hprof_handlers), .gc_start = gc_start, .gc_finish = gc_finish};

static const hprof_collector_ops ops = {.size = sizeof(hprof_collector_ops),
                                        .create = create,
                                        .start = start,
                                        .report = report,
                                        .reset = reset,
                                        .stop = stop,
                                        .destroy = destroy,
                                        .handlers = &handlers};

static const hprof_option options[] = {{.name = "gc-least",
                                        .type = HPROF_OPTION_MILLIS,
                                        .offset = offsetof(config, least_ns),
                                        .default_text = "0",
                                        .help = "leave out shorter pauses"}};

static const char* const records[] = {TABLE_NAME, NULL};

static const hprof_unit unit = {.size = sizeof(hprof_unit),
                                .kind = HPROF_UNIT_COLLECTOR,
                                .id = "gc_pauses",
                                .select = "gc=pauses",
                                .summary = "number and length of GC pauses",
                                .options = options,
                                .option_count = sizeof(options) / sizeof(options[0]),
                                .option_stride = sizeof(hprof_option),
                                .config_size = sizeof(config),
                                .needs = HPROF_NEED_GC_EVENTS,
                                .events = HPROF_EVENT_GC_START | HPROF_EVENT_GC_FINISH,
                                .records = records,
                                .ops = &ops};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(gc_pauses, "1.0", "example vendor", units, 1)
