/*
 * Units that do one thing wrong each while they run; the module itself is right. The VM tests select them by
 * their ids.
 */
#include <hprof/collector.h>
#include <hprof/encoder.h>
#include <hprof/service/emit.h>
#include <hprof/service/log.h>
#include <hprof/service/mem.h>
#include <hprof/sink.h>

#ifdef _WIN32
#include <windows.h>
static void sleep_seconds(unsigned seconds) { Sleep(seconds * 1000); }
#else
#include <unistd.h>
static void sleep_seconds(unsigned seconds) {
  while (seconds != 0) seconds = sleep(seconds);
}
#endif

/* Longer than any test waits. */
#define FOR_EVER 100000

/* --- collectors
 * ------------------------------------------------------------------------------------------------- */

typedef struct state {
  const hprof_host* host;
  const hprof_emit_service* emit;
  const hprof_log_service* log;
  const hprof_mem_service* mem;
} state;

static state states[16];
static unsigned state_count;

static hprof_status create(const hprof_host* host, const void* config, void** self, char* error,
                           uint32_t error_size) {
  state* made = &states[state_count++ % 16];
  (void)config;
  (void)error;
  (void)error_size;
  made->host = host;
  made->emit = (const hprof_emit_service*)host->service(host, HPROF_SERVICE_EMIT);
  made->log = (const hprof_log_service*)host->service(host, HPROF_SERVICE_LOG);
  made->mem = (const hprof_mem_service*)host->service(host, HPROF_SERVICE_MEM);
  *self = made;
  return HPROF_OK;
}
static hprof_status start(void* self) {
  (void)self;
  return HPROF_OK;
}
static hprof_status report(void* self, const hprof_report* why) {
  state* own = (state*)self;
  hprof_rec_note note;
  static const char text[] = "a note of the misbehaving plugin";
  (void)why;
  note.head.size = sizeof(note);
  note.head.kind = HPROF_RECORD_NOTE;
  note.head.time_us = 0;
  note.text.data = text;
  note.text.size = sizeof(text) - 1;
  return own->emit->write(own->host, &note.head);
}
static void nothing(void* self) { (void)self; }

static hprof_status stuck(void* self, const hprof_report* why) {
  (void)self;
  (void)why;
  sleep_seconds(FOR_EVER);
  return HPROF_OK;
}

/* The first thread that starts is kept, and no other: the VM's own end starts one, too. It is not that of
 * main, whose start may be told after VM_INIT: the VM's end waits for that one. */
static hprof_thread_serial main_thread;
static void see_main(void* self, void* jni, hprof_thread* thread) {
  (void)self;
  (void)jni;
  main_thread = thread->serial;
}
static void slow(void* self, void* jni, hprof_thread* thread) {
  const state* own = (const state*)self;
  static volatile int begun;
  if (begun || thread->serial == main_thread) return;
  begun = 1;
  own->log->message(own->host, "a slow callback begins");
  (void)jni;
  sleep_seconds(60);
}
static const hprof_handlers slow_handlers = {sizeof(hprof_handlers), .vm_init = see_main,
                                             .thread_start = slow};

static hprof_status fail_create(const hprof_host* host, const void* config, void** self, char* error,
                                uint32_t error_size) {
  static const char why[] = "the licence\nhas expired";
  uint32_t i;
  (void)host;
  (void)config;
  (void)self;
  for (i = 0; i + 1 < error_size && why[i] != 0; i++) error[i] = why[i];
  error[i] = 0;
  return HPROF_FAILED;
}

static hprof_rec_table table_of(const hprof_table_schema* schema, const hprof_cell* cell) {
  hprof_rec_table table;
  memset(&table, 0, sizeof(table));
  table.head.size = sizeof(table);
  table.head.kind = HPROF_RECORD_TABLE;
  table.schema = schema;
  table.rows = cell;
  table.row_count = 1;
  table.row_stride = sizeof(*cell);
  table.order = table.period_column = HPROF_NO_COLUMN;
  return table;
}
static const hprof_column trace_column = {"trace", NULL, HPROF_COLUMN_TRACE, 0, NULL, NULL};
static const hprof_table_schema trace_schema = {sizeof(hprof_table_schema), 1,        sizeof(hprof_column), 0,
                                                "com.wrong.traces/1",       "TRACES", &trace_column};

static hprof_status foreign_kind_report(void* self, const hprof_report* why) {
  state* own = (state*)self;
  hprof_record of_nobody = {sizeof(hprof_record), 4711, 0};
  hprof_rec_definition of_the_core = {{sizeof(hprof_rec_definition), HPROF_RECORD_FILE_END, 0}, 0, 0};
  int i;
  for (i = 0; i < 3; i++) own->emit->write(own->host, &of_nobody);
  if (own->emit->write(own->host, &of_the_core.head) != HPROF_FAILED) return HPROF_FAILED;
  return report(self, why);
}

static hprof_status short_record_report(void* self, const hprof_report* why) {
  state* own = (state*)self;
  hprof_record headless = {sizeof(uint32_t), HPROF_RECORD_NOTE, 0};
  hprof_record too_short = {sizeof(hprof_record), HPROF_RECORD_MONITOR_DUMP, 0};
  own->emit->write(own->host, &headless);
  own->emit->write(own->host, NULL);
  if (own->emit->write(own->host, &too_short) != HPROF_FAILED) return HPROF_FAILED;
  return report(self, why);
}

static hprof_status no_schema_report(void* self, const hprof_report* why) {
  state* own = (state*)self;
  hprof_cell cell = {0};
  hprof_rec_table table = table_of(NULL, &cell);
  if (own->emit->write(own->host, &table.head) != HPROF_FAILED) return HPROF_FAILED;
  return report(self, why);
}

static hprof_status unknown_trace_report(void* self, const hprof_report* why) {
  state* own = (state*)self;
  hprof_cell cell = {4000000};
  hprof_rec_table table = table_of(&trace_schema, &cell);
  if (own->emit->write(own->host, &table.head) != HPROF_FAILED) return HPROF_FAILED;
  return report(self, why);
}

static hprof_status loud_report(void* self, const hprof_report* why) {
  state* own = (state*)self;
  own->log->message(own->host, "one line\nHPROF ERROR: forged \033[31m");
  own->log->message(own->host, NULL);
  return report(self, why);
}

/* What is noticed in builds with checks only, and harms nothing in others. */
static void register_kind(void* self, void* jni, hprof_thread* thread) {
  const state* own = (const state*)self;
  (void)jni;
  (void)thread;
  own->emit->kind(own->host, "com.wrong.kind/1");
}
static const hprof_handlers wrong_thread_handlers = {sizeof(hprof_handlers), .vm_init = register_kind};

static void sleep_once(void* self, void* jni, hprof_thread* thread) {
  (void)self;
  (void)jni;
  (void)thread;
  sleep_seconds(1);
}
static const hprof_handlers sleepy_handlers = {sizeof(hprof_handlers), .vm_init = sleep_once};

static hprof_status write_behind_block(void* self, const hprof_report* why) {
  state* own = (state*)self;
  char* block = (char*)own->mem->allocate(own->host, 100);
  if (block == NULL) return HPROF_NO_MEMORY;
  block[100] = 'x';
  own->mem->release(own->host, block, 100);
  return report(self, why);
}

static hprof_status create_leaking(const hprof_host* host, const void* config, void** self, char* error,
                                   uint32_t error_size) {
  const hprof_status status = create(host, config, self, error, error_size);
  state* own = (state*)*self;
  return own->mem->allocate(host, 1000) != NULL ? status : HPROF_NO_MEMORY;
}

static hprof_status write_behind_error(const hprof_host* host, const void* config, void** self, char* error,
                                       uint32_t error_size) {
  error[error_size] = 'x';
  return create(host, config, self, error, error_size);
}

#define OPS(name, create_, report_, handlers_)                                \
  static const hprof_collector_ops name##_ops = {sizeof(hprof_collector_ops), \
                                                 0,                           \
                                                 create_,                     \
                                                 start,                       \
                                                 report_,                     \
                                                 nothing,                     \
                                                 nothing,                     \
                                                 nothing,                     \
                                                 NULL,                        \
                                                 handlers_,                   \
                                                 NULL}
OPS(good, create, report, NULL);
OPS(stuck_report, create, stuck, NULL);
OPS(slow_callback, create, report, &slow_handlers);

OPS(fails_in_create, fail_create, report, NULL);
OPS(foreign_kind, create, foreign_kind_report, NULL);
OPS(short_record, create, short_record_report, NULL);
OPS(no_schema, create, no_schema_report, NULL);
OPS(unknown_trace, create, unknown_trace_report, NULL);
OPS(loud, create, loud_report, NULL);
OPS(wrong_thread, create, report, &wrong_thread_handlers);
OPS(sleepy, create, report, &sleepy_handlers);
OPS(writes_behind_block, create, write_behind_block, NULL);
OPS(leaks, create_leaking, report, NULL);
OPS(writes_behind_error, write_behind_error, report, NULL);

/* --- encoders
 * --------------------------------------------------------------------------------------------------- */

static hprof_status create_encoder(const hprof_host* host, const void* config, void** self, char* error,
                                   uint32_t error_size) {
  (void)config;
  (void)error;
  (void)error_size;
  *self = (void*)host;
  return HPROF_OK;
}
static hprof_status refuse_all(void* self, const hprof_record* record, hprof_out* out) {
  (void)self;
  (void)record;
  (void)out;
  return HPROF_UNSUPPORTED;
}
/* Within the buffer's guard: nothing else is harmed. */
static hprof_status write_behind(void* self, const hprof_record* record, hprof_out* out) {
  (void)self;
  (void)record;
  out->end[3] = 'x';
  if (out->at < out->end) *out->at++ = 'x';
  return HPROF_OK;
}
static hprof_status move_behind(void* self, const hprof_record* record, hprof_out* out) {
  (void)self;
  (void)record;
  out->at = out->end + 1;
  return HPROF_OK;
}
static const hprof_encoder_ops refuses_all_ops = {
    sizeof(hprof_encoder_ops), 0, create_encoder, refuse_all, nothing, ".none", 0, 0, NULL};
static const hprof_encoder_ops writes_behind_ops = {
    sizeof(hprof_encoder_ops), 0, create_encoder, write_behind, nothing, ".none", 0, 0, NULL};
static const hprof_encoder_ops moves_behind_ops = {
    sizeof(hprof_encoder_ops), 0, create_encoder, move_behind, nothing, ".none", 0, 0, NULL};

/* --- sinks: what they are given is gone
 * ------------------------------------------------------------------------- */

static hprof_status open_sink(const hprof_host* host, const void* config, const hprof_sink_target* target,
                              void** self, char* error, uint32_t error_size) {
  (void)config;
  (void)target;
  (void)error;
  (void)error_size;
  *self = (void*)host;
  return HPROF_OK;
}
static int64_t write_all(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
                         uint32_t error_size) {
  (void)self;
  (void)bytes;
  (void)timeout_ns;
  (void)error;
  (void)error_size;
  return (int64_t)size;
}
static int64_t write_stuck(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
                           uint32_t error_size) {
  sleep_seconds(FOR_EVER);
  return write_all(self, bytes, size, timeout_ns, error, error_size);
}
static hprof_status close_sink(void* self, uint32_t complete, char* error, uint32_t error_size) {
  (void)self;
  (void)complete;
  (void)error;
  (void)error_size;
  return HPROF_OK;
}
static hprof_status close_stuck(void* self, uint32_t complete, char* error, uint32_t error_size) {
  sleep_seconds(FOR_EVER);
  return close_sink(self, complete, error, error_size);
}
static const char* sink_name(void* self) {
  (void)self;
  return "nowhere";
}

static int64_t write_more(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
                          uint32_t error_size) {
  return write_all(self, bytes, size, timeout_ns, error, error_size) + 1;
}

static const hprof_sink_ops wrong_count_ops = {
    sizeof(hprof_sink_ops), 0, open_sink, write_more, close_sink, NULL, sink_name, NULL, NULL, NULL};
static const hprof_sink_ops stuck_write_ops = {
    sizeof(hprof_sink_ops), 0, open_sink, write_stuck, close_sink, NULL, sink_name, NULL, NULL, NULL};
static const hprof_sink_ops stuck_close_ops = {
    sizeof(hprof_sink_ops), 0, open_sink, write_all, close_stuck, NULL, sink_name, NULL, NULL, NULL};

/* --- the module
 * ------------------------------------------------------------------------------------------------- */

#define UNIT(kind_, name, events_, records_)                         \
  static const hprof_unit name##_unit = {.size = sizeof(hprof_unit), \
                                         .kind = kind_,              \
                                         .id = #name,                \
                                         .summary = #name,           \
                                         .events = events_,          \
                                         .records = records_,        \
                                         .ops = &name##_ops}
static const char* const notes[] = {HPROF_KIND_NOTE, NULL};
UNIT(HPROF_UNIT_COLLECTOR, good, 0, notes);
UNIT(HPROF_UNIT_COLLECTOR, stuck_report, 0, notes);
UNIT(HPROF_UNIT_COLLECTOR, slow_callback, HPROF_EVENT_VM_INIT | HPROF_EVENT_THREAD_START, notes);
UNIT(HPROF_UNIT_COLLECTOR, fails_in_create, 0, notes);
UNIT(HPROF_UNIT_COLLECTOR, foreign_kind, 0, notes);
UNIT(HPROF_UNIT_COLLECTOR, short_record, 0, notes);
UNIT(HPROF_UNIT_COLLECTOR, no_schema, 0, notes);
UNIT(HPROF_UNIT_COLLECTOR, unknown_trace, 0, notes);
UNIT(HPROF_UNIT_COLLECTOR, loud, 0, notes);
UNIT(HPROF_UNIT_COLLECTOR, wrong_thread, HPROF_EVENT_VM_INIT, notes);
UNIT(HPROF_UNIT_COLLECTOR, sleepy, HPROF_EVENT_VM_INIT, notes);
UNIT(HPROF_UNIT_COLLECTOR, writes_behind_block, 0, notes);
UNIT(HPROF_UNIT_COLLECTOR, leaks, 0, notes);
UNIT(HPROF_UNIT_COLLECTOR, writes_behind_error, 0, notes);
/* Says that it takes tables, and refuses them, too. */
static const char* const tables[] = {HPROF_KIND_TABLE, NULL};
UNIT(HPROF_UNIT_ENCODER, refuses_all, 0, tables);
UNIT(HPROF_UNIT_ENCODER, writes_behind, 0, NULL);
UNIT(HPROF_UNIT_ENCODER, moves_behind, 0, NULL);
UNIT(HPROF_UNIT_SINK, wrong_count, 0, NULL);
UNIT(HPROF_UNIT_SINK, stuck_write, 0, NULL);
UNIT(HPROF_UNIT_SINK, stuck_close, 0, NULL);

static const hprof_unit* const units[] = {
    &good_unit,         &stuck_report_unit,        &slow_callback_unit, &fails_in_create_unit,
    &foreign_kind_unit, &short_record_unit,        &no_schema_unit,     &unknown_trace_unit,
    &loud_unit,         &refuses_all_unit,         &writes_behind_unit, &moves_behind_unit,
    &wrong_count_unit,  &stuck_write_unit,         &stuck_close_unit,   &wrong_thread_unit,
    &sleepy_unit,       &writes_behind_block_unit, &leaks_unit,         &writes_behind_error_unit};

HPROF_MODULE(misbehaving, "1.0", "nobody", units, sizeof(units) / sizeof(units[0]))
