/*
 * my_unit=y: how many threads have started and ended. A collector: hprof/collector.h says when each function
 * runs, on which threads, and what is forbidden there.
 */
#include <hprof/collector.h>
#include <hprof/record.h>
#include <hprof/service/clock.h>
#include <hprof/service/emit.h>
#include <hprof/service/mem.h>

/* Filled in by the agent from the option rows below; lives as long as the session. */
typedef struct config {
  uint32_t agent_threads;
} config;

typedef struct my_unit {
  const hprof_host* host;
  const hprof_mem_service* mem;
  const hprof_clock_service* clock;
  const hprof_emit_service* emit;
  const config* options;
  uint64_t started, ended; /* any thread adds, by relaxed atomics */
} my_unit;

static const hprof_column columns[] = {
    {"started", NULL, HPROF_COLUMN_COUNT, 0, "threads", "started while it ran"},
    {"ended", NULL, HPROF_COLUMN_COUNT, 0, "threads", "ended while it ran"},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))
static const hprof_table_schema schema = {
    sizeof(hprof_table_schema), COLUMNS, sizeof(hprof_column), 0, "example.my_unit/1", "MY_UNIT", columns,
};

/* [onload] */
static hprof_status create(const hprof_host* host, const void* options, void** self, char* error,
                           uint32_t error_size) {
  static const char why[] = "this agent lacks the services mem, clock or emit";
  const hprof_mem_service* mem = (const hprof_mem_service*)host->service(host, HPROF_SERVICE_MEM);
  const hprof_clock_service* clock = (const hprof_clock_service*)host->service(host, HPROF_SERVICE_CLOCK);
  const hprof_emit_service* emit = (const hprof_emit_service*)host->service(host, HPROF_SERVICE_EMIT);
  my_unit* made;
  if (!HPROF_HAS(mem, hprof_mem_service, release) || !HPROF_HAS(clock, hprof_clock_service, wall_ms) ||
      !HPROF_HAS(emit, hprof_emit_service, write)) {
    if (error_size >= sizeof(why)) memcpy(error, why, sizeof(why));
    return HPROF_UNSUPPORTED;
  }
  made = (my_unit*)mem->allocate(host, sizeof(*made)); /* zeroed */
  if (made == NULL) return HPROF_NO_MEMORY;
  made->host = host;
  made->mem = mem;
  made->clock = clock;
  made->emit = emit;
  made->options = (const config*)options;
  *self = made;
  return HPROF_OK;
}

/* The handlers run from here until stop has returned. [control] */
static hprof_status start(void* self) {
  (void)self;
  return HPROF_OK;
}
static void stop(void* self) { (void)self; }

/* [control] */
static hprof_status report(void* self, const hprof_report* why) {
  my_unit* me = (my_unit*)self;
  hprof_cell cells[COLUMNS];
  hprof_rec_table table;
  (void)why;
  cells[0].u = __atomic_load_n(&me->started, __ATOMIC_RELAXED);
  cells[1].u = __atomic_load_n(&me->ended, __ATOMIC_RELAXED);
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
  my_unit* me = (my_unit*)self;
  __atomic_store_n(&me->started, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&me->ended, 0, __ATOMIC_RELAXED);
}

/* [control] */
static void destroy(void* self) {
  my_unit* me = (my_unit*)self;
  me->mem->release(me->host, me, sizeof(*me));
}

static int is_counted(const my_unit* me, const hprof_thread* thread) {
  return me->options->agent_threads != 0 || (thread->flags & HPROF_THREAD_AGENT) == 0;
}
/* [app]: no lock that others hold for long, no allocation, no waiting. */
static void thread_start(void* self, void* jni, hprof_thread* thread) {
  my_unit* me = (my_unit*)self;
  (void)jni;
  if (is_counted(me, thread)) __atomic_fetch_add(&me->started, 1, __ATOMIC_RELAXED);
}
static void thread_end(void* self, void* jni, hprof_thread* thread) {
  my_unit* me = (my_unit*)self;
  (void)jni;
  if (is_counted(me, thread)) __atomic_fetch_add(&me->ended, 1, __ATOMIC_RELAXED);
}

static const hprof_handlers handlers = {
    .size = sizeof(hprof_handlers), .thread_start = thread_start, .thread_end = thread_end};

static const hprof_collector_ops ops = {.size = sizeof(hprof_collector_ops),
                                        .create = create,
                                        .start = start,
                                        .report = report,
                                        .reset = reset,
                                        .stop = stop,
                                        .destroy = destroy,
                                        .handlers = &handlers};

/* One row for each option: its name, where its value goes, and what help says of it. */
static const hprof_option options[] = {{.name = "my_unit-agent",
                                        .type = HPROF_OPTION_FLAG,
                                        .offset = offsetof(config, agent_threads),
                                        .default_text = "n",
                                        .help = "count the agent's own threads, too"}};

/* What it emits, so that an encoder that cannot take it is refused before the VM starts. */
static const char* const records[] = {"example.my_unit/1", NULL};

static const hprof_unit unit = {.size = sizeof(hprof_unit),
                                .kind = HPROF_UNIT_COLLECTOR,
                                .id = "my_unit",
                                .select = "my_unit=y",
                                .summary = "number of threads started and ended",
                                .options = options,
                                .option_count = sizeof(options) / sizeof(options[0]),
                                .option_stride = sizeof(hprof_option),
                                .config_size = sizeof(config),
                                .events = HPROF_EVENT_THREAD_START | HPROF_EVENT_THREAD_END,
                                .records = records,
                                .ops = &ops};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(my_unit, "1.0", "example vendor", units, 1)
