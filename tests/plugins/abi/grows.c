/*
 * A vendor's collector that passes one of each kind of struct to the core. It is built with today's headers
 * and with tomorrow's (tomorrow.py), knows bits that no core knows, requires none of them, and writes the
 * same in every core.
 */
#include <string.h>

#include <hprof/collector.h>
#include <hprof/service/emit.h>
#include <hprof/service/ids.h>
#include <hprof/service/log.h>

#define UNKNOWN (1ull << 60)

typedef struct config {
  const char* note;
  uint32_t first, second;
} config;

static const hprof_host* host_of;
static const config* options_of;
static const hprof_emit_service* emit;
static uint32_t own_kind;

static const hprof_column columns[] = {
    {"grows", NULL, HPROF_COLUMN_TEXT, 0, NULL, NULL},
    {"first", NULL, HPROF_COLUMN_COUNT, HPROF_COLUMN_WEIGHT, "things", NULL},
    {"second", NULL, HPROF_COLUMN_COUNT, 0, "things", "help"}};
static const hprof_table_schema schema = {.size = sizeof(hprof_table_schema),
                                          .column_count = 3,
                                          .column_stride = sizeof(hprof_column),
                                          .name = "example.grows/1",
                                          .title = "GROWS",
                                          .columns = columns};

static hprof_string_id text(const char* of) {
  const hprof_ids_service* ids = (const hprof_ids_service*)host_of->service(host_of, HPROF_SERVICE_IDS);
  const hprof_text given = {of, strlen(of)};
  return ids->string(host_of, given);
}

static hprof_rec_table table_of(const char* name, hprof_cell* cells) {
  hprof_rec_table table = {.head = {sizeof(hprof_rec_table), HPROF_RECORD_TABLE, 0}};
  cells[0].u = text(name);
  cells[1].u = options_of->first;
  cells[2].u = options_of->second;
  table.schema = &schema;
  table.rows = cells;
  table.row_count = 1;
  table.row_stride = 3 * sizeof(hprof_cell);
  table.order = 1;
  table.period_column = HPROF_NO_COLUMN;
  return table;
}

static hprof_status create(const hprof_host* host, const void* options, void** self, char* error,
                           uint32_t error_size) {
  (void)error;
  (void)error_size;
  host_of = host;
  options_of = (const config*)options;
  emit = (const hprof_emit_service*)host->service(host, HPROF_SERVICE_EMIT);
  own_kind = emit->kind(host, "example.grows_own/1");
  *self = NULL;
  return own_kind != 0 ? HPROF_OK : HPROF_FAILED;
}
static hprof_status start(void* self) {
  (void)self;
  return HPROF_OK;
}
static void nothing(void* self) { (void)self; }

static void vm_init(void* self, void* jni, hprof_thread* thread) {
  hprof_cell cells[3];
  hprof_rec_table table = table_of("event", cells);
  (void)self;
  (void)jni;
  (void)thread;
  emit->event(host_of, &table.head);
  memset(cells, 0, sizeof cells); /* the queue has a copy */
}

static hprof_status report(void* self, const hprof_report* why) {
  const hprof_log_service* log = (const hprof_log_service*)host_of->service(host_of, HPROF_SERVICE_LOG);
  hprof_cell cells[3];
  hprof_rec_table table = table_of("report", cells);
  hprof_rec_note note = {.head = {sizeof(note), HPROF_RECORD_NOTE, 0}};
  hprof_dump_thread threads[2] = {{.state = HPROF_STATE_RUNNABLE}, {.state = HPROF_STATE_BLOCKED}};
  hprof_rec_monitor_dump dump = {.head = {sizeof(dump), HPROF_RECORD_MONITOR_DUMP, 0}};
  hprof_record own = {sizeof(own), own_kind, 0};
  (void)self;
  (void)why;
  table.totals = cells;
  note.text.data = options_of->note;
  note.text.size = strlen(options_of->note);
  dump.thread_count = 2;
  dump.threads = threads;
  dump.thread_stride = sizeof(hprof_dump_thread);
  if (emit->write(host_of, &table.head) != HPROF_OK || emit->write(host_of, &note.head) != HPROF_OK ||
      emit->write(host_of, &dump.head) != HPROF_OK || emit->write(host_of, &own) != HPROF_OK) {
    log->message(host_of, "grows: WRONG: a record was refused");
  }
  return HPROF_OK;
}

static const hprof_handlers handlers = {.size = sizeof(hprof_handlers), .vm_init = vm_init};
static const hprof_collector_ops ops = {.size = sizeof(hprof_collector_ops),
                                        .create = create,
                                        .start = start,
                                        .report = report,
                                        .reset = nothing,
                                        .stop = nothing,
                                        .destroy = nothing,
                                        .handlers = &handlers};
static const hprof_option options[] = {{.name = "grows-note",
                                        .type = HPROF_OPTION_TEXT,
                                        .offset = offsetof(config, note),
                                        .default_text = "note"},
                                       {.name = "grows-first",
                                        .type = HPROF_OPTION_FLAG,
                                        .offset = offsetof(config, first),
                                        .default_text = "y"},
                                       {.name = "grows-second",
                                        .type = HPROF_OPTION_CHOICE,
                                        .offset = offsetof(config, second),
                                        .default_text = "c",
                                        .choices = "a|b|c"}};
static const hprof_variant variants[] = {{.when = "grows=*", .needs = UNKNOWN},
                                         {.when = "grows=y", .wants = UNKNOWN | HPROF_NEED_LINE_NUMBERS}};
static const hprof_unit unit = {.size = sizeof(hprof_unit),
                                .kind = HPROF_UNIT_COLLECTOR,
                                .id = "grows",
                                .select = "grows=y",
                                .summary = "structs of another version",
                                .options = options,
                                .option_count = 3,
                                .option_stride = sizeof(hprof_option),
                                .config_size = sizeof(config),
                                .flags = 1u << 31,
                                .wants = UNKNOWN,
                                .events = HPROF_EVENT_VM_INIT | UNKNOWN,
                                .ops = &ops,
                                .variants = variants,
                                .variant_count = 2,
                                .variant_stride = sizeof(hprof_variant)};
static const hprof_unit* const units[] = {&unit};
HPROF_MODULE(grows, "1.0", "example vendor", units, 1)
