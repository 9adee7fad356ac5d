/*
 * Units that break one rule of the headers each; the module itself is right. wrong.py has a row for each,
 * with what the agent and `hprof plugin check` say of it.
 */
#include <stdlib.h>
#include <string.h>

#include <hprof/collector.h>
#include <hprof/encoder.h>
#include <hprof/filter.h>
#include <hprof/service/emit.h>
#include <hprof/service/exceptions.h>
#include <hprof/service/io.h>
#include <hprof/service/log.h>
#include <hprof/service/mem.h>
#include <hprof/service/threads.h>
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

/* `self` of every unit is its host. */
#define SERVICE(host, type, id) \
  ((const type*)((const hprof_host*)(host))->service((const hprof_host*)(host), id))
#define MEM(host) SERVICE(host, hprof_mem_service, HPROF_SERVICE_MEM)

/* --- create */

static hprof_status create(const hprof_host* host, const void* config, void** self, char* error,
                           uint32_t error_size) {
  (void)config;
  (void)error;
  (void)error_size;
  *self = (void*)host;
  return HPROF_OK;
}
static hprof_status fail_create(const hprof_host* host, const void* config, void** self, char* error,
                                uint32_t error_size) {
  static const char why[] = "the licence\nhas expired";
  uint32_t i;
  create(host, config, self, error, error_size);
  for (i = 0; i + 1 < error_size && why[i] != 0; i++) error[i] = why[i];
  error[i] = 0;
  return HPROF_FAILED;
}
static hprof_status silent_create(const hprof_host* host, const void* config, void** self, char* error,
                                  uint32_t error_size) {
  create(host, config, self, error, error_size);
  return HPROF_FAILED;
}
static hprof_status greedy_create(const hprof_host* host, const void* config, void** self, char* error,
                                  uint32_t error_size) {
  char* memory = (char*)MEM(host)->allocate(host, 8);
  memory[0] = 1; /* without a look whether there is any */
  MEM(host)->release(host, memory, 8);
  return create(host, config, self, error, error_size);
}
static hprof_status write_behind_error(const hprof_host* host, const void* config, void** self, char* error,
                                       uint32_t error_size) {
  error[error_size] = 'x';
  return create(host, config, self, error, error_size);
}

static hprof_status stuck_create(const hprof_host* host, const void* config, void** self, char* error,
                                 uint32_t error_size) {
  sleep_seconds(FOR_EVER);
  return create(host, config, self, error, error_size);
}
static hprof_status exact_create(const hprof_host* host, const void* config, void** self, char* error,
                                 uint32_t error_size) {
  create(host, config, self, error, error_size);
  if (host->settings->size == sizeof(hprof_settings)) return HPROF_OK;
  strcpy(error, "other headers");
  return HPROF_UNSUPPORTED;
}
typedef struct texts_config {
  const char* absent; /* NULL unless it is given */
  const char* text;
} texts_config;
static hprof_status absent_create(const hprof_host* host, const void* config, void** self, char* error,
                                  uint32_t error_size) {
  const texts_config* texts = (const texts_config*)config;
  create(host, config, self, error, error_size);
  return texts->absent[0] != 1 ? HPROF_OK : HPROF_NO_MEMORY;
}
static hprof_status empty_create(const hprof_host* host, const void* config, void** self, char* error,
                                 uint32_t error_size) {
  const texts_config* texts = (const texts_config*)config;
  volatile const char* nowhere = texts->text[0] != 0 ? texts->text : NULL;
  create(host, config, self, error, error_size);
  return nowhere[0] != 1 ? HPROF_OK : HPROF_NO_MEMORY;
}

static hprof_status minus_one_create(const hprof_host* host, const void* config, void** self, char* error,
                                     uint32_t error_size) {
  silent_create(host, config, self, error, error_size);
  return -1;
}
static hprof_status hoarding_create(const hprof_host* host, const void* config, void** self, char* error,
                                    uint32_t error_size) {
  uint64_t size;
  for (size = 1u << 20; size >= 4096; size /= 2) {
    while (MEM(host)->allocate(host, size) != NULL) {
    }
  }
  return create(host, config, self, error, error_size);
}
static void see_exception(void* self, void* jni, void* exception) {
  (void)self;
  (void)jni;
  (void)exception;
}
static hprof_status ask_create(const hprof_host* host, const void* config, void** self, char* error,
                               uint32_t error_size) {
  const hprof_exception_probes probes = {sizeof(probes), 0, NULL, NULL, NULL, see_exception, NULL};
  const hprof_exceptions_service* exceptions =
      SERVICE(host, hprof_exceptions_service, HPROF_SERVICE_EXCEPTIONS);
  if (exceptions->ask(host, &probes) != HPROF_OK) strcpy(error, "no probes");
  create(host, config, self, error, error_size);
  return error[0] == 0 ? HPROF_OK : HPROF_UNSUPPORTED;
}
/* --- start */

static hprof_status start(void* self) { return self != NULL ? HPROF_OK : HPROF_FAILED; }
static hprof_status leaking_start(void* self) {
  MEM(self)->allocate((const hprof_host*)self, 100);
  return HPROF_OK;
}
static hprof_status wrong_size_start(void* self) {
  const hprof_host* host = (const hprof_host*)self;
  MEM(host)->release(host, MEM(host)->allocate(host, 100), 99);
  return HPROF_OK;
}
static hprof_status crashing_start(void* self) {
  volatile int* nowhere = (volatile int*)(self == NULL ? self : NULL);
  *nowhere = 1;
  return HPROF_OK;
}
static hprof_status ending_start(void* self) {
  exit(self != NULL ? 3 : 4);
  return HPROF_OK;
}

static hprof_status no_status_start(void* self) { return self != NULL ? 77 : HPROF_OK; }
static hprof_status count_start(void* self) {
  const hprof_log_service* log = SERVICE(self, hprof_log_service, HPROF_SERVICE_LOG);
  ++*log->loss_counter((const hprof_host*)self, "things: nobody asked whether there is a counter");
  return HPROF_OK;
}

static hprof_status probes_start(void* self) {
  return SERVICE(self, hprof_exceptions_service, HPROF_SERVICE_EXCEPTIONS)->start((const hprof_host*)self);
}
static void run_for_ever(void* self, void* jni, hprof_agent_thread* thread) {
  (void)self;
  (void)jni;
  (void)thread;
}
static hprof_status start_thread(void* self,
                                 void (*body)(void* argument, void* jni, hprof_agent_thread* thread)) {
  const hprof_threads_service* threads = SERVICE(self, hprof_threads_service, HPROF_SERVICE_THREADS);
  threads->start((const hprof_host*)self, "HPROF misbehaving", body, self);
  return HPROF_OK;
}
static hprof_status thread_start(void* self) { return start_thread(self, run_for_ever); }
static hprof_status body_less_start(void* self) { return start_thread(self, NULL); }
static hprof_status freeing_start(void* self) {
  const hprof_host* host = (const hprof_host*)self;
  void* memory = MEM(host)->allocate(host, 100);
  MEM(host)->release(host, memory, 100);
  MEM(host)->release(host, memory, 100);
  return HPROF_OK;
}

/* --- report */

static hprof_status write_record(void* self, hprof_record* record) {
  return SERVICE(self, hprof_emit_service, HPROF_SERVICE_EMIT)->write((const hprof_host*)self, record);
}
static hprof_status report(void* self, const hprof_report* why) {
  static const char text[] = "a note of the misbehaving plugin";
  hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {text, sizeof(text) - 1}};
  (void)why;
  return write_record(self, &note.head);
}
static hprof_status early_start(void* self) {
  report(self, NULL);
  return HPROF_OK;
}
/* The note after a record that has to be refused. */
static hprof_status refused_report(void* self, hprof_record* wrong, const hprof_report* why) {
  return write_record(self, wrong) != HPROF_FAILED ? HPROF_FAILED : report(self, why);
}
static hprof_status stuck(void* self, const hprof_report* why) {
  sleep_seconds(FOR_EVER);
  return report(self, why);
}
static hprof_status no_status_report(void* self, const hprof_report* why) {
  (void)self;
  (void)why;
  return 77;
}
static hprof_status foreign_kind_report(void* self, const hprof_report* why) {
  hprof_record of_nobody = {sizeof(of_nobody), 4711, 0};
  hprof_rec_definition of_the_core = {{sizeof(of_the_core), HPROF_RECORD_FILE_END, 0}, 0, 0};
  int i;
  for (i = 0; i < 3; i++) write_record(self, &of_nobody);
  return refused_report(self, &of_the_core.head, why);
}
static hprof_status short_record_report(void* self, const hprof_report* why) {
  hprof_record headless = {sizeof(uint32_t), HPROF_RECORD_NOTE, 0};
  hprof_record too_short = {sizeof(hprof_record), HPROF_RECORD_MONITOR_DUMP, 0};
  write_record(self, &headless);
  write_record(self, NULL);
  return refused_report(self, &too_short, why);
}
static hprof_status table_report(void* self, const hprof_table_schema* schema, const hprof_report* why) {
  const hprof_cell cell = {4000000};
  hprof_rec_table table = {.head = {sizeof(table), HPROF_RECORD_TABLE, 0},
                           .schema = schema,
                           .rows = &cell,
                           .row_count = 1,
                           .row_stride = sizeof(cell),
                           .order = HPROF_NO_COLUMN,
                           .period_column = HPROF_NO_COLUMN};
  return refused_report(self, &table.head, why);
}
static hprof_status no_schema_report(void* self, const hprof_report* why) {
  return table_report(self, NULL, why);
}
/* The second of two events is the earlier one; or they have no time at all. */
static hprof_status events_report(void* self, uint32_t type, const hprof_report* why) {
  const hprof_column column = {"at", NULL, type, 0, NULL, NULL};
  const hprof_table_schema schema = {
      sizeof(hprof_table_schema), 1, sizeof(hprof_column), 0, "com.wrong.events/1", "EVENTS", &column};
  const hprof_cell cells[] = {{2}, {1}};
  hprof_rec_table table = {.head = {sizeof(table), HPROF_RECORD_TABLE, 0},
                           .schema = &schema,
                           .rows = cells,
                           .row_count = 2,
                           .row_stride = sizeof(cells[0]),
                           .flags = HPROF_TABLE_EVENTS,
                           .order = HPROF_NO_COLUMN,
                           .period_column = HPROF_NO_COLUMN};
  return refused_report(self, &table.head, why);
}
static hprof_status unordered_events_report(void* self, const hprof_report* why) {
  return events_report(self, HPROF_COLUMN_TIME, why);
}
static hprof_status timeless_events_report(void* self, const hprof_report* why) {
  return events_report(self, HPROF_COLUMN_COUNT, why);
}
static hprof_status unknown_trace_report(void* self, const hprof_report* why) {
  static const hprof_column column = {"trace", NULL, HPROF_COLUMN_TRACE, 0, NULL, NULL};
  static const hprof_table_schema schema = {
      sizeof(hprof_table_schema), 1, sizeof(hprof_column), 0, "com.wrong.traces/1", "TRACES", &column};
  return table_report(self, &schema, why);
}
#define CELLS "com.wrong.cells/1"
static hprof_status cell_report(void* self, const char* name, uint32_t type, uint64_t bits) {
  const hprof_cell cell = {bits};
  const hprof_column column = {"a", NULL, type, 0, NULL, NULL};
  const hprof_table_schema schema = {
      sizeof(hprof_table_schema), 1, sizeof(hprof_column), 0, name, "CELLS", &column};
  hprof_rec_table table = {.head = {sizeof(table), HPROF_RECORD_TABLE, 0},
                           .schema = &schema,
                           .rows = &cell,
                           .row_count = 1,
                           .row_stride = sizeof(cell),
                           .order = HPROF_NO_COLUMN,
                           .period_column = HPROF_NO_COLUMN};
  return write_record(self, &table.head);
}
static hprof_status undeclared_report(void* self, const hprof_report* why) {
  report(self, why);
  return cell_report(self, "com.wrong.hidden/1", HPROF_COLUMN_COUNT, 1);
}
static hprof_status odd_column_report(void* self, const hprof_report* why) {
  report(self, why);
  return cell_report(self, CELLS, 99, 1);
}
static hprof_status no_number_report(void* self, const hprof_report* why) {
  report(self, why);
  return cell_report(self, CELLS, HPROF_COLUMN_REAL, ~0ull);
}
static const hprof_column count_column = {"a", NULL, HPROF_COLUMN_COUNT, 0, NULL, NULL};
static const hprof_column nameless_column = {NULL, NULL, HPROF_COLUMN_COUNT, 0, NULL, NULL};
static const hprof_cell one_cell = {1};
/* A table of one row, right but for what is passed. */
static hprof_status odd_table(void* self, const hprof_report* why, hprof_table_schema schema,
                              const hprof_cell* rows, uint32_t stride, uint32_t order) {
  hprof_rec_table table = {.head = {sizeof(table), HPROF_RECORD_TABLE, 0},
                           .schema = &schema,
                           .rows = rows,
                           .row_count = 1,
                           .row_stride = stride,
                           .order = order,
                           .period_column = HPROF_NO_COLUMN};
  return refused_report(self, &table.head, why);
}
#define SCHEMA(size, count, title, column) \
  ((hprof_table_schema){size, count, sizeof(hprof_column), 0, CELLS, title, &column})
#define ODD_TABLE(name, schema, rows, stride, order)                       \
  static hprof_status name##_report(void* self, const hprof_report* why) { \
    return odd_table(self, why, schema, rows, stride, order);              \
  }
ODD_TABLE(no_column_name, SCHEMA(sizeof(hprof_table_schema), 1, "CELLS", nameless_column), &one_cell, 8,
          HPROF_NO_COLUMN)
ODD_TABLE(no_title, SCHEMA(sizeof(hprof_table_schema), 1, NULL, count_column), &one_cell, 8, HPROF_NO_COLUMN)
ODD_TABLE(narrow_rows, SCHEMA(sizeof(hprof_table_schema), 1, "CELLS", count_column), &one_cell, 4,
          HPROF_NO_COLUMN)
ODD_TABLE(absent_rows, SCHEMA(sizeof(hprof_table_schema), 1, "CELLS", count_column), NULL, 8, HPROF_NO_COLUMN)
ODD_TABLE(many_columns, SCHEMA(sizeof(hprof_table_schema), 4000, "CELLS", count_column), &one_cell, 32000,
          HPROF_NO_COLUMN)
ODD_TABLE(zero_schema, SCHEMA(0, 1, "CELLS", count_column), &one_cell, 8, HPROF_NO_COLUMN)
ODD_TABLE(no_such_order, SCHEMA(sizeof(hprof_table_schema), 1, "CELLS", count_column), &one_cell, 8, 7)
static hprof_status absent_note_report(void* self, const hprof_report* why) {
  hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {NULL, 100}};
  return refused_report(self, &note.head, why);
}
static hprof_status absent_threads_report(void* self, const hprof_report* why) {
  hprof_rec_monitor_dump dump = {.head = {sizeof(dump), HPROF_RECORD_MONITOR_DUMP, 0},
                                 .thread_count = 5,
                                 .thread_stride = sizeof(hprof_dump_thread)};
  return refused_report(self, &dump.head, why);
}
static hprof_status long_text_report(void* self, const hprof_report* why) {
  char text[5000];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = 0;
  SERVICE(self, hprof_log_service, HPROF_SERVICE_LOG)->message((const hprof_host*)self, text);
  return report(self, why);
}
static hprof_status minus_one_report(void* self, const hprof_report* why) {
  report(self, why);
  return -1;
}
static hprof_status loud_report(void* self, const hprof_report* why) {
  const hprof_log_service* log = SERVICE(self, hprof_log_service, HPROF_SERVICE_LOG);
  log->message((const hprof_host*)self, "one line\nHPROF ERROR: forged \033[31m");
  log->message((const hprof_host*)self, NULL);
  return report(self, why);
}
static hprof_status write_behind_block(void* self, const hprof_report* why) {
  const hprof_host* host = (const hprof_host*)self;
  char* block = (char*)MEM(host)->allocate(host, 100);
  if (block == NULL) return HPROF_NO_MEMORY;
  block[100] = 'x';
  MEM(host)->release(host, block, 100);
  return report(self, why);
}

/* --- handlers */

/* The first thread that starts is kept, and no other: the VM's own end starts one, too. It is not that of
 * main, whose start may be told after VM_INIT: the VM's end waits for that one. */
static hprof_thread_serial main_thread;
static void see_main(void* self, void* jni, hprof_thread* thread) {
  (void)self;
  (void)jni;
  main_thread = thread->serial;
}
static void slow(void* self, void* jni, hprof_thread* thread) {
  static volatile int begun;
  (void)jni;
  if (begun || thread->serial == main_thread) return;
  begun = 1;
  SERVICE(self, hprof_log_service, HPROF_SERVICE_LOG)
      ->message((const hprof_host*)self, "a slow callback begins");
  sleep_seconds(60);
}
static void register_kind(void* self, void* jni, hprof_thread* thread) {
  (void)jni;
  (void)thread;
  SERVICE(self, hprof_emit_service, HPROF_SERVICE_EMIT)->kind((const hprof_host*)self, "com.wrong.kind/1");
}
static void sleep_once(void* self, void* jni, hprof_thread* thread) {
  (void)self;
  (void)jni;
  (void)thread;
  sleep_seconds(1);
}
static void allocate_in_gc(void* self) {
  const hprof_host* host = (const hprof_host*)self;
  MEM(host)->release(host, MEM(host)->allocate(host, 8), 8);
}
static void say_in_gc(void* self) {
  SERVICE(self, hprof_log_service, HPROF_SERVICE_LOG)
      ->message((const hprof_host*)self, "a collection begins");
}
static void write_in_handler(void* self, void* jni, hprof_thread* thread) {
  (void)jni;
  (void)thread;
  report(self, NULL);
}
static void handle_for_ever(void* self) {
  (void)self;
  sleep_seconds(FOR_EVER);
}
static void crash_at_class(void* self, void* jni, hprof_thread* thread, void* jclass) {
  (void)jni;
  (void)thread;
  if (jclass != NULL) crashing_start(self);
}
#define HANDLERS(name, ...) static const hprof_handlers name = {.size = sizeof(hprof_handlers), __VA_ARGS__}
HANDLERS(none, .gc_start = NULL);
HANDLERS(slow_handlers, .vm_init = see_main, .thread_start = slow);
HANDLERS(kind_handlers, .vm_init = register_kind);
HANDLERS(sleepy_handlers, .vm_init = sleep_once);
HANDLERS(gc_handlers, .gc_start = allocate_in_gc);
HANDLERS(endless_handlers, .gc_finish = handle_for_ever);
HANDLERS(class_handlers, .class_prepare = crash_at_class);
HANDLERS(saying_handlers, .gc_start = say_in_gc);
HANDLERS(writing_handlers, .vm_init = write_in_handler);

/* --- encoders */

static void nothing(void* self) { (void)self; }
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
static hprof_status move_back(void* self, const hprof_record* record, hprof_out* out) {
  refuse_all(self, record, out);
  out->at--;
  return HPROF_OK;
}
static hprof_status deaf_encode(void* self, const hprof_record* record, hprof_out* out) {
  int i;
  refuse_all(self, record, out);
  for (i = 0; i < 10000; i++) {
    if (out->at == out->end) out->more(out, 1);
    if (out->at < out->end) *out->at++ = 'x';
  }
  return HPROF_OK;
}
static hprof_status answer_minus_one(void* self, const hprof_record* record, hprof_out* out) {
  refuse_all(self, record, out);
  return -1;
}
static hprof_status answer_77(void* self, const hprof_record* record, hprof_out* out) {
  refuse_all(self, record, out);
  return 77;
}
static hprof_status allocate_in_encode(void* self, const hprof_record* record, hprof_out* out) {
  allocate_in_gc(self);
  return refuse_all(self, record, out);
}

/* --- a filter that does not hear what `pass` answers */

static hprof_status deaf_write(void* self, const uint8_t* bytes, uint64_t size, void* context,
                               hprof_filter_pass pass) {
  (void)self;
  pass(context, bytes, size);
  return HPROF_OK;
}
static hprof_status finish(void* self, void* context, hprof_filter_pass pass) {
  (void)context;
  (void)pass;
  return start(self);
}

/* --- and one whose memory is used up */

static hprof_status write_without_memory(void* self, const uint8_t* bytes, uint64_t size, void* context,
                                         hprof_filter_pass pass) {
  (void)bytes;
  (void)size;
  return finish(self, context, pass) == HPROF_OK ? HPROF_NO_MEMORY : HPROF_FAILED;
}

static hprof_status grow(void* self, const uint8_t* bytes, uint64_t size, void* context,
                         hprof_filter_pass pass) {
  (void)self;
  (void)size;
  while (pass(context, bytes, 1) == HPROF_OK) sleep_seconds(1);
  return HPROF_ABORTED;
}
static hprof_status filter_77(void* self, const uint8_t* bytes, uint64_t size, void* context,
                              hprof_filter_pass pass) {
  deaf_write(self, bytes, size, context, pass);
  return 77;
}
static hprof_status pass_nothing(void* self, const uint8_t* bytes, uint64_t size, void* context,
                                 hprof_filter_pass pass) {
  (void)self;
  (void)bytes;
  return pass(context, NULL, size);
}

/* --- sinks: what they are given is gone */

static hprof_status open_stuck(const hprof_host* host, const void* config, const hprof_sink_target* target,
                               void** self, char* error, uint32_t error_size) {
  (void)target;
  return stuck_create(host, config, self, error, error_size);
}

static hprof_status open_sink(const hprof_host* host, const void* config, const hprof_sink_target* target,
                              void** self, char* error, uint32_t error_size) {
  (void)target;
  return create(host, config, self, error, error_size);
}
static hprof_status open_file(const hprof_host* host, const void* config, const hprof_sink_target* target,
                              void** self, char* error, uint32_t error_size) {
  const hprof_io_service* io = SERVICE(host, hprof_io_service, HPROF_SERVICE_IO);
  create(host, config, self, error, error_size);
  return io->create_file(host, target->address, 1, error, error_size) < 0 ? HPROF_FAILED : HPROF_OK;
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
static int64_t write_more(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
                          uint32_t error_size) {
  return write_all(self, bytes, size, timeout_ns, error, error_size) + 1;
}
static int64_t write_nothing(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns,
                             char* error, uint32_t error_size) {
  write_all(self, bytes, size, timeout_ns, error, error_size);
  return 0;
}
static int64_t write_stuck(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
                           uint32_t error_size) {
  sleep_seconds(FOR_EVER);
  return write_all(self, bytes, size, timeout_ns, error, error_size);
}
static int64_t write_once(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns, char* error,
                          uint32_t error_size) {
  static int times;
  static const char why[] = "the vendor's disk is full";
  if (times++ == 0) return write_all(self, bytes, size, timeout_ns, error, error_size);
  if (error_size >= sizeof(why)) memcpy(error, why, sizeof(why));
  return -1;
}
static int64_t write_minus_one(void* self, const uint8_t* bytes, uint64_t size, uint64_t timeout_ns,
                               char* error, uint32_t error_size) {
  write_all(self, bytes, size, timeout_ns, error, error_size);
  return -1;
}
static hprof_status close_sink(void* self, uint32_t complete, char* error, uint32_t error_size) {
  (void)complete;
  (void)error;
  (void)error_size;
  return start(self);
}
static hprof_status close_77(void* self, uint32_t complete, char* error, uint32_t error_size) {
  close_sink(self, complete, error, error_size);
  return 77;
}
static hprof_status close_stuck(void* self, uint32_t complete, char* error, uint32_t error_size) {
  sleep_seconds(FOR_EVER);
  return close_sink(self, complete, error, error_size);
}
static const char* sink_name(void* self) {
  (void)self;
  return "nowhere";
}
static const char* no_name(void* self) {
  (void)self;
  return NULL;
}

/* --- the units: what of each is wrong, and the events it hears; a module has at most 32 */

#if MORE == 2
#define COLLECTORS(UNIT)                                                         \
  UNIT(undeclared, create, start, undeclared_report, none, 0)                    \
  UNIT(no_column_name, create, start, no_column_name_report, none, 0)            \
  UNIT(no_title, create, start, no_title_report, none, 0)                        \
  UNIT(narrow_rows, create, start, narrow_rows_report, none, 0)                  \
  UNIT(absent_rows, create, start, absent_rows_report, none, 0)                  \
  UNIT(many_columns, create, start, many_columns_report, none, 0)                \
  UNIT(zero_schema, create, start, zero_schema_report, none, 0)                  \
  UNIT(no_such_order, create, start, no_such_order_report, none, 0)              \
  UNIT(absent_note, create, start, absent_note_report, none, 0)                  \
  UNIT(absent_threads, create, start, absent_threads_report, none, 0)            \
  UNIT(long_text, create, start, long_text_report, none, 0)                      \
  UNIT(minus_one, create, start, minus_one_report, none, 0)                      \
  UNIT(in_handler, create, start, report, writing_handlers, HPROF_EVENT_VM_INIT) \
  UNIT(gc_message, create, start, report, saying_handlers, HPROF_EVENT_GC_START) \
  UNIT(twice_freed, create, freeing_start, report, none, 0)                      \
  UNIT(keeps_thread, create, thread_start, report, none, 0)                      \
  UNIT(body_less, create, body_less_start, report, none, 0)                      \
  UNIT(keeps_probes, ask_create, probes_start, report, none, 0)                  \
  UNIT(unasked, create, probes_start, report, none, 0)                           \
  UNIT(hoards, hoarding_create, start, report, none, 0)                          \
  UNIT(takes_status, minus_one_create, start, report, none, 0)
#define ENCODERS(UNIT)                  \
  UNIT(moves_back, move_back, NULL)     \
  UNIT(deaf_encoder, deaf_encode, NULL) \
  UNIT(encodes_minus, answer_minus_one, NULL)
#define SINKS(UNIT)                                            \
  UNIT(fails_later, open_sink, write_once, close_sink)         \
  UNIT(fails_silently, open_sink, write_minus_one, close_sink) \
  UNIT(closes_77, open_sink, write_all, close_77)
#define FILTERS(UNIT)         \
  UNIT(grows_for_ever, grow)  \
  UNIT(filters_77, filter_77) \
  UNIT(passes_nothing, pass_nothing)
#define TEXTS(UNIT)
#define SINK_NAME no_name
#define MODULE misbehaving_most
#elif !defined(MORE)
#define COLLECTORS(UNIT)                                                                                    \
  UNIT(good, create, start, report, none, 0)                                                                \
  UNIT(stuck_report, create, start, stuck, none, 0)                                                         \
  UNIT(slow_callback, create, start, report, slow_handlers, HPROF_EVENT_VM_INIT | HPROF_EVENT_THREAD_START) \
  UNIT(fails_in_create, fail_create, start, report, none, 0)                                                \
  UNIT(silent, silent_create, start, report, none, 0)                                                       \
  UNIT(greedy, greedy_create, start, report, none, 0)                                                       \
  UNIT(leaks, create, leaking_start, report, none, 0)                                                       \
  UNIT(wrong_size, create, wrong_size_start, report, none, 0)                                               \
  UNIT(crashes, create, crashing_start, report, none, 0)                                                    \
  UNIT(ends, create, ending_start, report, none, 0)                                                         \
  UNIT(early, create, early_start, report, none, 0)                                                         \
  UNIT(no_status, create, start, no_status_report, none, 0)                                                 \
  UNIT(foreign_kind, create, start, foreign_kind_report, none, 0)                                           \
  UNIT(short_record, create, start, short_record_report, none, 0)                                           \
  UNIT(no_schema, create, start, no_schema_report, none, 0)                                                 \
  UNIT(unknown_trace, create, start, unknown_trace_report, none, 0)                                         \
  UNIT(loud, create, start, loud_report, none, 0)                                                           \
  UNIT(gc_memory, create, start, report, gc_handlers, HPROF_EVENT_GC_START)                                 \
  UNIT(wrong_thread, create, start, report, kind_handlers, HPROF_EVENT_VM_INIT)                             \
  UNIT(sleepy, create, start, report, sleepy_handlers, HPROF_EVENT_VM_INIT)                                 \
  UNIT(writes_behind_block, create, start, write_behind_block, none, 0)                                     \
  UNIT(writes_behind_error, write_behind_error, start, report, none, 0)
#define ENCODERS(UNIT)                    \
  UNIT(refuses_all, refuse_all, tables)   \
  UNIT(writes_behind, write_behind, NULL) \
  UNIT(moves_behind, move_behind, NULL)   \
  UNIT(late_memory, allocate_in_encode, NULL)
#define SINKS(UNIT)                                     \
  UNIT(wrong_count, open_sink, write_more, close_sink)  \
  UNIT(stuck_write, open_sink, write_stuck, close_sink) \
  UNIT(stuck_close, open_sink, write_all, close_stuck)  \
  UNIT(open_for_ever, open_file, write_all, close_sink)
#define FILTERS(UNIT) UNIT(deaf, deaf_write)
#define TEXTS(UNIT)
#define MODULE misbehaving
#else
#define COLLECTORS(UNIT)                                                              \
  UNIT(stuck_create, stuck_create, start, report, none, 0)                            \
  UNIT(stuck_handler, create, start, report, endless_handlers, HPROF_EVENT_GC_FINISH) \
  UNIT(class_crash, create, start, report, class_handlers, HPROF_EVENT_CLASS_PREPARE) \
  UNIT(exact_size, exact_create, start, report, none, 0)                              \
  UNIT(no_counter, create, count_start, report, none, 0)                              \
  UNIT(no_status_in_start, create, no_status_start, report, none, 0)                  \
  UNIT(unordered_events, create, start, unordered_events_report, none, 0)             \
  UNIT(timeless_events, create, start, timeless_events_report, none, 0)               \
  UNIT(odd_column, create, start, odd_column_report, none, 0)                         \
  UNIT(no_number, create, start, no_number_report, none, 0)
#define ENCODERS(UNIT) UNIT(wrong_status, answer_77, NULL)
#define SINKS(UNIT)                                   \
  UNIT(stuck_open, open_stuck, write_all, close_sink) \
  UNIT(takes_nothing, open_sink, write_nothing, close_sink)
#define FILTERS(UNIT) UNIT(no_memory, write_without_memory)
#define TEXTS(UNIT)                              \
  UNIT(absent_text, absent_create, absent, NULL) \
  UNIT(empty_text, empty_create, text, "x")
#define MODULE misbehaving_more
#endif

#ifndef SINK_NAME
#define SINK_NAME sink_name
#endif
static const char* const notes[] = {HPROF_KIND_NOTE, CELLS, NULL};
/* refuses_all says that it takes tables, and refuses them, too. */
static const char* const tables[] = {HPROF_KIND_TABLE, NULL};

#define MADE(id_, kind_, ops_, ...) \
  &(const hprof_unit){              \
      .size = sizeof(hprof_unit), .kind = kind_, .id = #id_, .summary = #id_, .ops = ops_, __VA_ARGS__},
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
/* A collector with an option of its name. */
#define TEXT_COLLECTOR(id_, create_, member_, default_)                                          \
  MADE(id_, HPROF_UNIT_COLLECTOR, COLLECTOR_OPS(create_, start, report, none), .records = notes, \
       .options = &(const hprof_option){.name = #id_,                                            \
                                        .type = HPROF_OPTION_TEXT,                               \
                                        .offset = offsetof(texts_config, member_),               \
                                        .default_text = default_,                                \
                                        .help = "a text"},                                       \
       .option_count = 1, .option_stride = sizeof(hprof_option), .config_size = sizeof(texts_config))
#define ENCODER(id_, encode_, records_)                               \
  MADE(id_, HPROF_UNIT_ENCODER,                                       \
       (&(const hprof_encoder_ops){.size = sizeof(hprof_encoder_ops), \
                                   .create = create,                  \
                                   .encode = encode_,                 \
                                   .destroy = nothing,                \
                                   .file_suffix = ".none"}),          \
       .records = records_)
#define SINK(id_, open_, write_, close_)                        \
  MADE(id_, HPROF_UNIT_SINK,                                    \
       (&(const hprof_sink_ops){.size = sizeof(hprof_sink_ops), \
                                .open = open_,                  \
                                .write = write_,                \
                                .close = close_,                \
                                .name = SINK_NAME}),            \
       .records = NULL)

#define FILTER(id_, write_)                                         \
  MADE(id_, HPROF_UNIT_FILTER,                                      \
       (&(const hprof_filter_ops){.size = sizeof(hprof_filter_ops), \
                                  .create = create,                 \
                                  .write = write_,                  \
                                  .finish = finish,                 \
                                  .destroy = nothing}),             \
       .records = NULL)

static const hprof_unit* const units[] = {COLLECTORS(COLLECTOR) ENCODERS(ENCODER) SINKS(SINK) FILTERS(FILTER)
                                              TEXTS(TEXT_COLLECTOR)};

#define NAMED_MODULE(name) HPROF_MODULE(name, "1.0", "nobody", units, sizeof(units) / sizeof(units[0]))
NAMED_MODULE(MODULE)
