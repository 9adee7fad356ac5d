/*
 * Units that break one rule of the headers each, for the test of `hprof plugin check`; the module itself is
 * right but for the option rows of two of them.
 */
#include <stdlib.h>

#include <hprof/collector.h>
#include <hprof/encoder.h>
#include <hprof/filter.h>
#include <hprof/service/emit.h>
#include <hprof/service/io.h>
#include <hprof/service/mem.h>
#include <hprof/sink.h>

static const hprof_host* host_of;
static const hprof_mem_service* mem;

static hprof_status create(const hprof_host* host, const void* config, void** self, char* error,
                           uint32_t error_size) {
  (void)config;
  (void)error;
  (void)error_size;
  host_of = host;
  mem = (const hprof_mem_service*)host->service(host, HPROF_SERVICE_MEM);
  *self = (void*)host;
  return HPROF_OK;
}
static hprof_status start(void* self) { return self != NULL ? HPROF_OK : HPROF_FAILED; }
static hprof_status report(void* self, const hprof_report* why) {
  (void)why;
  return start(self);
}
static void nothing(void* self) { (void)self; }

/* --- collectors */

static hprof_status leaking_start(void* self) {
  mem->allocate(host_of, 100);
  return start(self);
}
static hprof_status wrong_size_start(void* self) {
  mem->release(host_of, mem->allocate(host_of, 100), 99);
  return start(self);
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
static hprof_status silent_create(const hprof_host* host, const void* config, void** self, char* error,
                                  uint32_t error_size) {
  create(host, config, self, error, error_size);
  return HPROF_FAILED;
}
static hprof_status greedy_create(const hprof_host* host, const void* config, void** self, char* error,
                                  uint32_t error_size) {
  char* memory;
  create(host, config, self, error, error_size);
  memory = (char*)mem->allocate(host, 8);
  memory[0] = 1; /* without a look whether there is any */
  mem->release(host, memory, 8);
  return HPROF_OK;
}
static hprof_status no_status_report(void* self, const hprof_report* why) {
  (void)self;
  (void)why;
  return 77;
}
static hprof_status early_start(void* self) {
  const hprof_emit_service* emit = (const hprof_emit_service*)host_of->service(host_of, HPROF_SERVICE_EMIT);
  hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {"early", 5}};
  emit->write(host_of, &note.head);
  return start(self);
}
static void allocate_in_gc(void* self) {
  (void)self;
  mem->release(host_of, mem->allocate(host_of, 8), 8);
}
static const hprof_handlers gc_handlers = {.size = sizeof(hprof_handlers), .gc_start = allocate_in_gc};

#define COLLECTOR(name, create_, start_, report_, handlers_)                          \
  static const hprof_collector_ops name##_ops = {.size = sizeof(hprof_collector_ops), \
                                                 .create = create_,                   \
                                                 .start = start_,                     \
                                                 .report = report_,                   \
                                                 .reset = nothing,                    \
                                                 .stop = nothing,                     \
                                                 .destroy = nothing,                  \
                                                 .handlers = handlers_}
COLLECTOR(leaks, create, leaking_start, report, NULL);
COLLECTOR(wrong_size, create, wrong_size_start, report, NULL);
COLLECTOR(crashes, create, crashing_start, report, NULL);
COLLECTOR(ends, create, ending_start, report, NULL);
COLLECTOR(silent, silent_create, start, report, NULL);
COLLECTOR(greedy, greedy_create, start, report, NULL);
COLLECTOR(no_status, create, start, no_status_report, NULL);
COLLECTOR(early, create, early_start, report, NULL);
COLLECTOR(gc_memory, create, start, report, &gc_handlers);
COLLECTOR(helpless, create, start, report, NULL);

/* --- an encoder, a filter, a sink */

static hprof_status allocate_in_encode(void* self, const hprof_record* record, hprof_out* out) {
  (void)self;
  (void)record;
  (void)out;
  mem->release(host_of, mem->allocate(host_of, 8), 8);
  return HPROF_UNSUPPORTED;
}
static const hprof_encoder_ops late_memory_ops = {
    .size = sizeof(hprof_encoder_ops), .create = create, .encode = allocate_in_encode, .destroy = nothing};

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
static const hprof_filter_ops deaf_ops = {.size = sizeof(hprof_filter_ops),
                                          .create = create,
                                          .write = deaf_write,
                                          .finish = finish,
                                          .destroy = nothing};

static hprof_status open_file(const hprof_host* host, const void* config, const hprof_sink_target* target,
                              void** self, char* error, uint32_t error_size) {
  const hprof_io_service* io = (const hprof_io_service*)host->service(host, HPROF_SERVICE_IO);
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
static hprof_status close_nothing(void* self, uint32_t complete, char* error, uint32_t error_size) {
  (void)complete;
  (void)error;
  (void)error_size;
  return start(self);
}
static const char* no_name(void* self) {
  (void)self;
  return NULL;
}
static const hprof_sink_ops open_for_ever_ops = {.size = sizeof(hprof_sink_ops),
                                                 .open = open_file,
                                                 .write = write_all,
                                                 .close = close_nothing,
                                                 .name = no_name};

/* --- the module */

typedef struct config {
  uint32_t flag;
} config;
static const hprof_option no_help[] = {
    {.name = "helpless", .type = HPROF_OPTION_FLAG, .default_text = "n"},
    {.name = "depth", .type = HPROF_OPTION_FLAG, .default_text = "n", .help = "taken"}};

#define UNIT(kind_, name, ...)                                       \
  static const hprof_unit name##_unit = {.size = sizeof(hprof_unit), \
                                         .kind = kind_,              \
                                         .id = #name,                \
                                         .summary = #name,           \
                                         .ops = &name##_ops,         \
                                         __VA_ARGS__}
#define NO_OPTIONS .option_count = 0
UNIT(HPROF_UNIT_COLLECTOR, leaks, NO_OPTIONS);
UNIT(HPROF_UNIT_COLLECTOR, wrong_size, NO_OPTIONS);
UNIT(HPROF_UNIT_COLLECTOR, crashes, NO_OPTIONS);
UNIT(HPROF_UNIT_COLLECTOR, ends, NO_OPTIONS);
UNIT(HPROF_UNIT_COLLECTOR, silent, NO_OPTIONS);
UNIT(HPROF_UNIT_COLLECTOR, greedy, NO_OPTIONS);
UNIT(HPROF_UNIT_COLLECTOR, no_status, NO_OPTIONS);
UNIT(HPROF_UNIT_COLLECTOR, early, NO_OPTIONS);
UNIT(HPROF_UNIT_COLLECTOR, gc_memory, .events = HPROF_EVENT_GC_START);
UNIT(HPROF_UNIT_COLLECTOR, helpless, .options = no_help, .option_count = 2,
     .option_stride = sizeof(hprof_option), .config_size = sizeof(config), .select = "cpu=samples");
UNIT(HPROF_UNIT_ENCODER, late_memory, NO_OPTIONS);
UNIT(HPROF_UNIT_FILTER, deaf, NO_OPTIONS);
UNIT(HPROF_UNIT_SINK, open_for_ever, NO_OPTIONS);

static const hprof_unit* const units[] = {
    &leaks_unit,       &wrong_size_unit, &crashes_unit,      &ends_unit,      &silent_unit,
    &greedy_unit,      &no_status_unit,  &early_unit,        &gc_memory_unit, &helpless_unit,
    &late_memory_unit, &deaf_unit,       &open_for_ever_unit};

/* Beside the entry, against the rule that there is nothing else. */
HPROF_EXPORT const int wrong_units_too_much;
const int wrong_units_too_much = 1;

HPROF_MODULE(wrong_units, "1.0", "nobody", units, sizeof(units) / sizeof(units[0]))
