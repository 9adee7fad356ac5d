/* Collectors that break a rule in create, in start or in a handler. */
#include <stdlib.h>

#include <hprof/service/log.h>
#include <hprof/service/probes.h>
#include <hprof/service/threads.h>

#include "misbehaving_collectors.h"

/* --- create */

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
static void see_exception(void* jni, void* of, int64_t self, void* exception) {
  (void)jni;
  (void)of;
  (void)self;
  (void)exception;
}
static hprof_status ask_create(const hprof_host* host, const void* config, void** self, char* error,
                               uint32_t error_size) {
  static hprof_target target = {HPROF_POINT_MADE, 0, NULL, NULL};
  hprof_probe_user user = {0};
  uint32_t number = 0;
  const hprof_probes_service* probes = SERVICE(host, hprof_probes_service, HPROF_SERVICE_PROBES);
  target.function = (void (*)(void))see_exception;
  user.size = sizeof(user);
  user.targets = &target;
  user.target_count = 1;
  if (probes->ask(host, &user, &number) != HPROF_OK) strcpy(error, "no probes");
  create(host, config, self, error, error_size);
  return error[0] == 0 ? HPROF_OK : HPROF_UNSUPPORTED;
}

/* --- start */

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
  return SERVICE(self, hprof_probes_service, HPROF_SERVICE_PROBES)->start((const hprof_host*)self, 1);
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
static hprof_status failing_start(void* self) {
  start_thread(self, run_for_ever);
  return HPROF_FAILED;
}
static hprof_status body_less_start(void* self) { return start_thread(self, NULL); }
static hprof_status freeing_start(void* self) {
  const hprof_host* host = (const hprof_host*)self;
  void* memory = MEM(host)->allocate(host, 100);
  MEM(host)->release(host, memory, 100);
  MEM(host)->release(host, memory, 100);
  return HPROF_OK;
}
static hprof_status early_start(void* self) {
  report(self, NULL);
  return HPROF_OK;
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
HANDLERS(slow_handlers, .vm_init = see_main, .thread_start = slow);
HANDLERS(kind_handlers, .vm_init = register_kind);
HANDLERS(sleepy_handlers, .vm_init = sleep_once);
HANDLERS(gc_handlers, .gc_start = allocate_now);
HANDLERS(endless_handlers, .gc_finish = handle_for_ever);
HANDLERS(class_handlers, .class_prepare = crash_at_class);
HANDLERS(saying_handlers, .gc_start = say_in_gc);
HANDLERS(writing_handlers, .vm_init = write_in_handler);

#define TEXT_COLLECTOR(id_, create_, member_, default_)                                          \
  MADE(id_, HPROF_UNIT_COLLECTOR, COLLECTOR_OPS(create_, start, report, none), .records = notes, \
       .options = &(const hprof_option){.name = #id_,                                            \
                                        .type = HPROF_OPTION_TEXT,                               \
                                        .offset = offsetof(texts_config, member_),               \
                                        .default_text = default_,                                \
                                        .help = "a text"},                                       \
       .option_count = 1, .option_stride = sizeof(hprof_option), .config_size = sizeof(texts_config))

MISBEHAVING_MODULE(misbehaving_life, COLLECTOR(good, create, start, report, none, 0),
                   COLLECTOR(fails_in_create, fail_create, start, report, none, 0),
                   COLLECTOR(silent, silent_create, start, report, none, 0),
                   COLLECTOR(takes_status, minus_one_create, start, report, none, 0),
                   COLLECTOR(greedy, greedy_create, start, report, none, 0),
                   COLLECTOR(hoards, hoarding_create, start, report, none, 0),
                   COLLECTOR(writes_behind_error, write_behind_error, start, report, none, 0),
                   COLLECTOR(stuck_create, stuck_create, start, report, none, 0),
                   COLLECTOR(exact_size, exact_create, start, report, none, 0),
                   TEXT_COLLECTOR(absent_text, absent_create, absent, NULL),
                   TEXT_COLLECTOR(empty_text, empty_create, text, "x"),
                   COLLECTOR(early, create, early_start, report, none, 0),
                   COLLECTOR(leaks, create, leaking_start, report, none, 0),
                   COLLECTOR(wrong_size, create, wrong_size_start, report, none, 0),
                   COLLECTOR(twice_freed, create, freeing_start, report, none, 0),
                   COLLECTOR(crashes, create, crashing_start, report, none, 0),
                   COLLECTOR(ends, create, ending_start, report, none, 0),
                   COLLECTOR(no_status_in_start, create, no_status_start, report, none, 0),
                   COLLECTOR(no_counter, create, count_start, report, none, 0),
                   COLLECTOR(keeps_probes, ask_create, probes_start, report, none, 0),
                   COLLECTOR(unasked, create, probes_start, report, none, 0),
                   COLLECTOR(keeps_thread, create, thread_start, report, none, 0),
                   COLLECTOR(fails_in_start, create, failing_start, report, none, 0),
                   COLLECTOR(body_less, create, body_less_start, report, none, 0),
                   COLLECTOR(slow_callback, create, start, report, slow_handlers,
                             HPROF_EVENT_VM_INIT | HPROF_EVENT_THREAD_START),
                   COLLECTOR(wrong_thread, create, start, report, kind_handlers, HPROF_EVENT_VM_INIT),
                   COLLECTOR(sleepy, create, start, report, sleepy_handlers, HPROF_EVENT_VM_INIT),
                   COLLECTOR(in_handler, create, start, report, writing_handlers, HPROF_EVENT_VM_INIT),
                   COLLECTOR(gc_memory, create, start, report, gc_handlers, HPROF_EVENT_GC_START),
                   COLLECTOR(gc_message, create, start, report, saying_handlers, HPROF_EVENT_GC_START),
                   COLLECTOR(stuck_handler, create, start, report, endless_handlers, HPROF_EVENT_GC_FINISH),
                   COLLECTOR(class_crash, create, start, report, class_handlers, HPROF_EVENT_CLASS_PREPARE))
