/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc_pauses=y: how often the garbage collector stopped the VM and for how long. A collector with an option,
 * two event handlers and a table of its own: hprof/collector.h says when each function runs, on which
 * threads, and what is forbidden there.
 */
#include <stdio.h>
#include <string.h>

#include <hprof/collector.h>
#include <hprof/record.h>
#include <hprof/service/clock.h>
#include <hprof/service/emit.h>
#include <hprof/service/mem.h>

/* Filled in by the agent from the option rows below; lives as long as the session. */
typedef struct config {
  uint64_t least_ns;
} config;

typedef struct gc_pauses {
  const hprof_host* host;
  const hprof_clock_service* clock;
  const hprof_emit_service* emit;
  const config* options;
  /* One thread at a time adds, during a collection; a report reads and a reset clears at any time. Relaxed
   * atomics: a report may miss the pause that is being added, nothing else. */
  uint64_t begun_ns; /* 0: no collection is running */
  uint64_t starts, pauses, total_ns, max_ns;
} gc_pauses;

static const hprof_column columns[] = {
    {"starts", NULL, HPROF_COLUMN_COUNT, 0, "collections", NULL},
    {"pauses", NULL, HPROF_COLUMN_COUNT, 0, "pauses", NULL},
    {"total_ns", NULL, HPROF_COLUMN_NANOSECONDS, 0, NULL, "of all pauses"},
    {"max_ns", NULL, HPROF_COLUMN_NANOSECONDS, 0, NULL, "of the longest"},
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

/* Each pause is an event, too, for outputs that take them. */
static const hprof_column event_columns[] = {
    {"at", NULL, HPROF_COLUMN_TIME, 0, NULL, "when the pause was over"},
    {"pause", NULL, HPROF_COLUMN_NANOSECONDS, HPROF_COLUMN_DURATION, NULL, "its length"},
};
#define EVENT_COLUMNS (sizeof(event_columns) / sizeof(event_columns[0]))
static const hprof_table_schema event_schema = {
    .size = sizeof(hprof_table_schema),
    .column_count = EVENT_COLUMNS,
    .column_stride = sizeof(hprof_column),
    .name = "example.gc_pauses_events/1",
    .title = "GC PAUSES: EVENTS",
    .columns = event_columns,
};

static uint64_t get(const uint64_t* from) { return __atomic_load_n(from, __ATOMIC_RELAXED); }
static void set(uint64_t* to, uint64_t value) { __atomic_store_n(to, value, __ATOMIC_RELAXED); }
static void add(uint64_t* to, uint64_t value) { __atomic_fetch_add(to, value, __ATOMIC_RELAXED); }

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
  made = mem->allocate(host, sizeof(gc_pauses)); /* zeroed */
  if (made == NULL) return HPROF_NO_MEMORY;
  made->host = host;
  made->clock = clock;
  made->emit = emit;
  made->options = options;
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
  hprof_cell cells[COLUMNS];
  hprof_rec_table table;
  (void)why;
  cells[0].u = get(&me->starts);
  cells[1].u = get(&me->pauses);
  cells[2].u = get(&me->total_ns);
  cells[3].u = get(&me->max_ns);
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

/* [control] */
static void reset(void* self) {
  gc_pauses* me = self;
  set(&me->starts, 0);
  set(&me->pauses, 0);
  set(&me->total_ns, 0);
  set(&me->max_ns, 0);
}

/* [control] */
static void destroy(void* self) {
  gc_pauses* me = self;
  const hprof_mem_service* mem = service(me->host, HPROF_SERVICE_MEM);
  mem->release(me->host, me, sizeof(*me));
}

/* [gc] */
static void pass_on(const gc_pauses* me, uint64_t now, uint64_t ns) {
  const hprof_settings* settings = me->host->settings;
  hprof_cell cells[EVENT_COLUMNS];
  hprof_rec_table table;
  if (!HPROF_REACHES(settings, hprof_settings, events) || settings->events == 0) return;
  cells[0].u = now;
  cells[1].u = ns;
  memset(&table, 0, sizeof(table));
  table.head.size = sizeof(table);
  table.head.kind = HPROF_RECORD_TABLE;
  table.schema = &event_schema;
  table.rows = cells;
  table.row_count = 1;
  table.row_stride = sizeof(cells);
  table.flags = HPROF_TABLE_EVENTS;
  table.order = table.period_column = HPROF_NO_COLUMN;
  me->emit->event(me->host, &table.head);
}

/* Of a concurrent collector the VM tells of the pauses, not of its concurrent work. [gc] */
static void gc_start(void* self) {
  gc_pauses* me = self;
  const uint64_t now = me->clock->monotonic(me->host);
  add(&me->starts, 1);
  set(&me->begun_ns, now == 0 ? 1 : now);
}
static void gc_finish(void* self) {
  gc_pauses* me = self;
  const uint64_t now = me->clock->monotonic(me->host);
  const uint64_t begun = get(&me->begun_ns);
  const uint64_t ns = now > begun ? now - begun : 0;
  set(&me->begun_ns, 0);
  if (begun == 0 || ns < me->options->least_ns) return;
  add(&me->pauses, 1);
  add(&me->total_ns, ns);
  if (ns > get(&me->max_ns)) set(&me->max_ns, ns);
  pass_on(me, now, ns);
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

/* One row for each option: its name, where its value goes, and what help says of it. */
static const hprof_option options[] = {{.name = "gc_pauses-least",
                                        .type = HPROF_OPTION_MILLIS,
                                        .offset = offsetof(config, least_ns),
                                        .default_text = "0",
                                        .help = "leave out shorter pauses"}};

/* What it emits, so that an encoder that cannot take it is refused before the VM starts. */
static const char* const records[] = {TABLE_NAME, NULL};

static const hprof_unit unit = {.size = sizeof(hprof_unit),
                                .kind = HPROF_UNIT_COLLECTOR,
                                .id = "gc_pauses",
                                .select = "gc_pauses=y",
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
