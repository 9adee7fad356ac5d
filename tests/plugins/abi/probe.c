/*
 * A vendor's module that looks at what the agent does with its structs: out-structs that know less, a table
 * of handlers that ends early, a class-file handler, libraries. It says what is wrong in messages.
 */
#include <jvmti.h>
#include <stdio.h>
#include <string.h>

#include <hprof/collector.h>
#include <hprof/draft/class_file.h>
#include <hprof/draft/library.h>
#include <hprof/service/emit.h>
#include <hprof/service/ids.h>
#include <hprof/service/jvm.h>
#include <hprof/service/log.h>
#include <hprof/service/probes.h>

#define EXTENSION "com.acme.probe/1"
#define CANARY 0x5a

static const hprof_log_service* log_of(const hprof_host* host) {
  return (const hprof_log_service*)host->service(host, HPROF_SERVICE_LOG);
}

static void expect(const hprof_host* host, int right, const char* what) {
  char line[200];
  if (right) return;
  snprintf(line, sizeof(line), "probe: WRONG: %s", what);
  log_of(host)->message(host, line);
}

typedef struct config {
  const char* library;
} config;

/* Of a module that is built with other headers: the first members of hprof_frame_info. */
typedef struct short_info {
  uint32_t size;
  hprof_method_id method;
} short_info;

static void look_at_sizes(const hprof_host* host) {
  const hprof_ids_service* ids = (const hprof_ids_service*)host->service(host, HPROF_SERVICE_IDS);
  hprof_frame_id frame = ids->synthetic_frame(host, "Probe", "frame");
  const hprof_text absent = {NULL, 10};
  union {
    short_info info;
    unsigned char bytes[64];
  } old;
  struct {
    hprof_frame_info info;
    uint32_t later[4];
  } newer;
  size_t i;
  memset(&old, CANARY, sizeof(old));
  old.info.size = sizeof(short_info);
  expect(host, ids->string(host, absent) == 0, "an absent text has a number");
  expect(host, ids->frame_info(host, frame, (hprof_frame_info*)&old) == 1, "a frame is not known");
  expect(host, old.info.size == sizeof(short_info), "the caller's size was changed");
  expect(host, old.info.method != 0, "a frame without a method");
  for (i = sizeof(short_info); i < sizeof(old); i++) {
    if (old.bytes[i] != CANARY) break;
  }
  expect(host, i == sizeof(old), "written beyond the caller's size");
  memset(&newer, CANARY, sizeof(newer));
  newer.info.size = sizeof(newer);
  expect(host, ids->frame_info(host, frame, &newer.info) == 1, "a frame is not known to newer headers");
  expect(host, newer.info.line == HPROF_LINE_UNKNOWN, "the line");
  expect(host, newer.later[0] == 0 && newer.later[3] == 0, "what the core does not know is not zero");
  expect(host, ids->frame_info(host, 4000000000u, &newer.info) == 0, "a frame that nobody made");
  expect(host, newer.info.method == 0, "a frame that nobody made has a method");
}

static void look_at_names(const hprof_host* host) {
  expect(host, host->service(host, "hprof.log/2") == NULL, "a service that is not there");
  expect(host, host->service(host, "com.acme.thing/1") == NULL, "a vendor's service");
  expect(host, host->service(host, NULL) == NULL, "no service at all");
  expect(host, host->find_extension(host, "probe_sizes", EXTENSION) != NULL, "an extension of its own");
  expect(host,
         host->find_extension(host, NULL, EXTENSION) == host->find_extension(host, "probe_sizes", EXTENSION),
         "an extension of whoever has it");
  expect(host, host->find_extension(host, NULL, "com.acme.probe/2") == NULL, "one that nobody has");
  expect(host, host->find_extension(host, "probe_sizes", "com.acme.probe/2") == NULL, "another version");
  expect(host, host->find_extension(host, "probe_short", EXTENSION) == NULL, "a unit that does not run");
}

static void look_at_libraries(const hprof_host* host, const char* path) {
  const hprof_library_service* libraries =
      (const hprof_library_service*)host->service(host, HPROF_SERVICE_LIBRARY);
  const hprof_library* library;
  char error[200] = "";
  if (path == NULL) return;
  library = libraries->open(host, path, error, sizeof(error));
  expect(host, library != NULL, error);
  expect(host, library == libraries->open(host, path, error, sizeof(error)), "the same library twice");
  expect(host, libraries->symbol(host, library, HPROF_MODULE_ENTRY_NAME) != NULL, "a symbol that is there");
  expect(host, libraries->symbol(host, library, "no_such_symbol") == NULL, "a symbol that is not there");
  expect(host, libraries->symbol(host, NULL, "JNI_GetCreatedJavaVMs") != NULL, "a symbol of the VM");
  expect(host, libraries->open(host, "/no/such/library.so", error, sizeof(error)) == NULL, "no library");
  expect(host, error[0] != 0, "no reason");
}

static hprof_status create_sizes(const hprof_host* host, const void* options, void** self, char* error,
                                 uint32_t error_size) {
  (void)error;
  (void)error_size;
  look_at_sizes(host);
  look_at_names(host);
  look_at_libraries(host, ((const config*)options)->library);
  log_of(host)->message(host, "probe: looked");
  *self = NULL;
  return HPROF_OK;
}

/* "quick" becomes "QUICK" in the class of that name: same length, so nothing else of the file moves. */
static uint8_t* change_class(void* self, const hprof_class_file* file, uint32_t* new_size) {
  static const char kFrom[] = "\1\0\5quick";
  static const char kTo[] = "\1\0\5QUICK";
  uint32_t i;
  (void)self;
  if (file->name == NULL || strcmp(file->name, "Quick") != 0) return NULL;
  for (i = 0; i + sizeof(kFrom) <= file->byte_count; i++) {
    uint8_t* bytes;
    if (memcmp(file->bytes + i, kFrom, sizeof(kFrom) - 1) != 0) continue;
    bytes = file->allocate(file, file->byte_count);
    if (bytes == NULL) return NULL;
    memcpy(bytes, file->bytes, file->byte_count);
    memcpy(bytes + i, kTo, sizeof(kTo) - 1);
    *new_size = file->byte_count;
    return bytes;
  }
  return NULL;
}

static hprof_status create_classes(const hprof_host* host, const void* options, void** self, char* error,
                                   uint32_t error_size) {
  const hprof_class_file_service* files =
      (const hprof_class_file_service*)host->service(host, HPROF_SERVICE_CLASS_FILE);
  (void)options;
  *self = NULL;
  if (files == NULL || files->handle(host, NULL, &change_class) != HPROF_OK) {
    snprintf(error, error_size, "no class files");
    return HPROF_UNSUPPORTED;
  }
  expect(host, files->handle(host, NULL, &change_class) == HPROF_FAILED, "a second handler");
  return HPROF_OK;
}

static hprof_status create_short(const hprof_host* host, const void* options, void** self, char* error,
                                 uint32_t error_size) {
  (void)options;
  (void)error;
  (void)error_size;
  *self = (void*)(uintptr_t)host;
  return HPROF_OK;
}
static hprof_status start(void* self) {
  (void)self;
  return HPROF_OK;
}
static hprof_status report(void* self, const hprof_report* why) {
  (void)self;
  (void)why;
  return HPROF_OK;
}
static void nothing(void* self) { (void)self; }

static void thread_start(void* self, void* jni, hprof_thread* thread) {
  const hprof_host* host = (const hprof_host*)self;
  (void)jni;
  (void)thread;
  log_of(host)->message(host, "probe: a thread starts");
}
/* Its size says that it ends behind thread_start: what follows belongs to somebody else. */
static const hprof_handlers handlers = {
    .size = offsetof(hprof_handlers, thread_end),
    .thread_start = thread_start,
    .thread_end = (void (*)(void*, void*, hprof_thread*))(uintptr_t)1,
    .gc_start = (void (*)(void*))(uintptr_t)1,
    .gc_finish = (void (*)(void*))(uintptr_t)1,
};

/* The events around classes and the VM's life, one line each; of classes those whose name begins with
 * "Unloads". */
static int classes_loaded;
static int has_reported;

static void say(void* self, const char* what) {
  const hprof_host* host = (const hprof_host*)self;
  log_of(host)->message(host, what);
}
static void vm_init(void* self, void* jni, hprof_thread* thread) {
  expect((const hprof_host*)self, jni != NULL && thread->serial != 0, "a VM that starts without a thread");
  say(self, "probe: vm_init");
}
static void vm_death(void* self, void* jni) {
  expect((const hprof_host*)self, jni != NULL && !has_reported, "the last report was before the VM's end");
  say(self, "probe: vm_death");
}
static void class_load(void* self, void* jni, hprof_thread* thread, void* jclass) {
  (void)thread;
  expect((const hprof_host*)self, jni != NULL && jclass != NULL, "no class");
  classes_loaded = 1;
}
static void class_unload(void* self, hprof_class_serial serial) {
  const hprof_host* host = (const hprof_host*)self;
  const hprof_ids_service* ids = (const hprof_ids_service*)host->service(host, HPROF_SERVICE_IDS);
  hprof_class_info info = {.size = sizeof(info)};
  hprof_text name;
  char line[200];
  expect(host, ids->class_info(host, serial, &info) == 1, "a class that has gone is not known");
  name = ids->string_text(host, info.name);
  if (name.size < 7 || memcmp(name.data, "Unloads", 7) != 0) return;
  snprintf(line, sizeof(line), "probe: class_unload %.*s", (int)name.size, name.data);
  say(self, line);
}
static hprof_status report_life(void* self, const hprof_report* why) {
  (void)why;
  has_reported = 1;
  say(self, classes_loaded ? "probe: class_load" : "probe: WRONG: no class was loaded");
  return HPROF_OK;
}
static const hprof_handlers handlers_of_life = {.size = sizeof(hprof_handlers),
                                                .vm_init = vm_init,
                                                .class_load = class_load,
                                                .class_unload = class_unload,
                                                .vm_death = vm_death};

/* Exceptions of the class Catches$Own, its objects, and calls of Catches.thrower, counted by probes. */
static const hprof_probes_service* probes;
static uint32_t probes_of_exceptions, probes_of_calls;
static int made_count, caught_count, object_count, array_count, call_count, end_count;

static int is_named(const hprof_host* host, hprof_string_id id, const char* wanted) {
  const hprof_ids_service* ids = (const hprof_ids_service*)host->service(host, HPROF_SERVICE_IDS);
  hprof_text name = ids->string_text(host, id);
  return name.size == strlen(wanted) && memcmp(name.data, wanted, name.size) == 0;
}
static int is_own_method(const hprof_host* host, hprof_method_id method, const char* wanted) {
  const hprof_ids_service* ids = (const hprof_ids_service*)host->service(host, HPROF_SERVICE_IDS);
  hprof_method_info info = {.size = sizeof(info)};
  hprof_class_info owner = {.size = sizeof(owner)};
  if (!ids->method_info(host, method, &info) || !ids->class_info(host, info.owner, &owner)) return 0;
  return is_named(host, owner.name, "Catches") && is_named(host, info.name, wanted);
}
/* The method of the calling thread's stack below its first `frames`. */
static int is_on_top(const hprof_host* host, uint32_t frames, const char* wanted) {
  const hprof_jvm_service* jvm = (const hprof_jvm_service*)host->service(host, HPROF_SERVICE_JVM);
  jvmtiEnv* jvmti = (jvmtiEnv*)jvm->jvmti(host);
  jmethodID method = NULL;
  jlocation location;
  char* name = NULL;
  int is_it;
  if ((*jvmti)->GetFrameLocation(jvmti, NULL, (jint)frames, &method, &location) != JVMTI_ERROR_NONE ||
      (*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE)
    return 0;
  is_it = strcmp(name, wanted) == 0;
  (*jvmti)->Deallocate(jvmti, (unsigned char*)name);
  return is_it;
}
static const hprof_host* host_of(jlong self) { return (const hprof_host*)(uintptr_t)self; }
static void JNICALL caught(JNIEnv* jni, jclass of, jlong self, jobject exception, jint number) {
  const hprof_host* host = host_of(self);
  const hprof_method_id method = (hprof_method_id)number;
  expect(host, of != NULL && exception != NULL, "no exception was caught");
  if (!is_own_method(host, method, "catcher") && !is_own_method(host, method, "outer")) return;
  caught_count++;
  expect(host, is_on_top(host, probes->frames, "catcher") || is_on_top(host, probes->frames, "outer"),
         "another method is on top of the stack");
  expect(host, probes->thread(host, jni, NULL, NULL) == 0, "a thread of the agent");
}
/* The VM and the JDK make others, too. name: of the class. */
static int is_of(const hprof_host* host, void* jni, void* object, const char* name) {
  const hprof_ids_service* ids = (const hprof_ids_service*)host->service(host, HPROF_SERVICE_IDS);
  JNIEnv* env = (JNIEnv*)jni;
  jclass of;
  hprof_class_info info = {.size = sizeof(info)};
  expect(host, env != NULL && object != NULL, "no object was made");
  of = (*env)->GetObjectClass(env, (jobject)object);
  expect(host, ids->class_info(host, ids->class_serial(host, env, of), &info), "a class is not known");
  (*env)->DeleteLocalRef(env, of);
  return is_named(host, info.name, name);
}
static int is_own(const hprof_host* host, void* jni, void* object) {
  return is_of(host, jni, object, "Catches$Own");
}
static int is_array(const hprof_host* host, void* jni, void* object) {
  return is_of(host, jni, object, "Catches$Own[]") || is_of(host, jni, object, "Catches$Own[][]") ||
         is_of(host, jni, object, "Catches$Own[][][]");
}
static void JNICALL made(JNIEnv* jni, jclass of, jlong self, jobject exception) {
  (void)of;
  made_count += is_own(host_of(self), jni, exception);
}
static void JNICALL allocated(JNIEnv* jni, jclass of, jlong self, jobject object) {
  const hprof_host* host = host_of(self);
  (void)of;
  if (is_array(host, jni, object)) {
    array_count++;
    expect(host, is_on_top(host, probes->frames, "nested"),
           "another method than that of the arrays is on top");
    return;
  }
  if (!is_own(host, jni, object)) return;
  object_count++;
  expect(host, is_on_top(host, probes->frames, "<init>"), "no constructor is on top of the stack");
}
static jlong JNICALL begins(JNIEnv* jni, jclass of, jlong self, jint method) {
  const hprof_host* host = host_of(self);
  expect(host, jni != NULL && of != NULL, "a call without a JNIEnv");
  if (!is_own_method(host, (hprof_method_id)method, "thrower")) return 0;
  expect(host, is_on_top(host, probes->frames, "thrower"), "another method is on top of the stack");
  call_count++;
  return call_count;
}
static void JNICALL ends(JNIEnv* jni, jclass of, jlong self, jlong call) {
  (void)jni;
  (void)of;
  (void)call;
  expect(host_of(self), 0, "a call returns");
}
static void JNICALL unwinds(JNIEnv* jni, jclass of, jlong self, jlong call) {
  expect(host_of(self), jni != NULL && of != NULL && call == call_count, "another call ends");
  end_count++;
}
static hprof_status create_probes(const hprof_host* host, const void* options, void** self, char* error,
                                  uint32_t error_size) {
  static hprof_target targets[] = {{.point = HPROF_POINT_MADE}, {.point = HPROF_POINT_CAUGHT}};
  void* me = (void*)(uintptr_t)host;
  const hprof_probe_user of_exceptions = {
      .size = sizeof(of_exceptions), .targets = targets, .target_count = 2, .self = me, .include = "Catches"};
  const hprof_probe_user of_nothing = {.size = sizeof(of_nothing)};
  uint32_t none = 0;
  (void)options;
  *self = me;
  targets[0].function = (void (*)(void))made;
  targets[1].function = (void (*)(void))caught;
  probes = (const hprof_probes_service*)host->service(host, HPROF_SERVICE_PROBES);
  if (probes == NULL || probes->ask(host, &of_exceptions, &probes_of_exceptions) != HPROF_OK) {
    snprintf(error, error_size, "no probes");
    return HPROF_UNSUPPORTED;
  }
  expect(host, probes->ask(host, &of_nothing, &none) == HPROF_FAILED, "a user without targets");
  return HPROF_OK;
}
static hprof_status start_probes(void* self) {
  return probes->start((const hprof_host*)self, probes_of_exceptions);
}
static void stop_probes(void* self) { probes->stop((const hprof_host*)self, probes_of_exceptions); }
/* Beside those of cpu=times and heap=sites: calls and allocations. */
static hprof_status create_calls(const hprof_host* host, const void* options, void** self, char* error,
                                 uint32_t error_size) {
  static hprof_target targets[] = {{.point = HPROF_POINT_BEGIN},
                                   {.point = HPROF_POINT_END},
                                   {.point = HPROF_POINT_UNWIND},
                                   {.point = HPROF_POINT_OBJECT}};
  void* me = (void*)(uintptr_t)host;
  const hprof_probe_user user = {
      .size = sizeof(user), .targets = targets, .target_count = 4, .self = me, .include = "Catches.thrower"};
  (void)options;
  *self = me;
  targets[0].function = (void (*)(void))begins;
  targets[1].function = (void (*)(void))ends;
  targets[2].function = (void (*)(void))unwinds;
  targets[3].function = (void (*)(void))allocated;
  probes = (const hprof_probes_service*)host->service(host, HPROF_SERVICE_PROBES);
  if (probes == NULL || probes->ask(host, &user, &probes_of_calls) != HPROF_OK) {
    snprintf(error, error_size, "no probes of calls and objects");
    return HPROF_UNSUPPORTED;
  }
  return HPROF_OK;
}
static hprof_status start_calls(void* self) {
  return probes->start((const hprof_host*)self, probes_of_calls);
}
static void stop_calls(void* self) { probes->stop((const hprof_host*)self, probes_of_calls); }
static void count_left(void* argument, const char* words, uint64_t classes, uint64_t methods) {
  *(uint64_t*)argument += words[0] != 0 ? classes + methods : 0;
}
static hprof_status report_calls(void* self, const hprof_report* why) {
  const hprof_host* host = (const hprof_host*)self;
  uint64_t left = 0;
  char line[200];
  (void)why;
  probes->each_left(host, probes_of_calls, &left, count_left);
  snprintf(line, sizeof(line), "probe: objects %d, arrays %d, calls %d, ends %d, %s", object_count,
           array_count, call_count, end_count, left != 0 ? "classes without probes" : "all have probes");
  say(self, line);
  return HPROF_OK;
}
static hprof_status report_probes(void* self, const hprof_report* why) {
  char line[200];
  (void)why;
  snprintf(line, sizeof(line), "probe: made %d, caught %d", made_count, caught_count);
  say(self, line);
  return HPROF_OK;
}

static const void* extension(const char* id) {
  return strcmp(id, EXTENSION) == 0 ? (const void*)EXTENSION : NULL;
}

static const hprof_collector_ops ops_sizes = {.size = sizeof(hprof_collector_ops),
                                              .create = create_sizes,
                                              .start = start,
                                              .report = report,
                                              .reset = nothing,
                                              .stop = nothing,
                                              .destroy = nothing};
static const hprof_collector_ops ops_classes = {.size = sizeof(hprof_collector_ops),
                                                .create = create_classes,
                                                .start = start,
                                                .report = report,
                                                .reset = nothing,
                                                .stop = nothing,
                                                .destroy = nothing};
static const hprof_collector_ops ops_short = {.size = sizeof(hprof_collector_ops),
                                              .create = create_short,
                                              .start = start,
                                              .report = report,
                                              .reset = nothing,
                                              .stop = nothing,
                                              .destroy = nothing,
                                              .handlers = &handlers};

static const hprof_collector_ops ops_life = {.size = sizeof(hprof_collector_ops),
                                             .create = create_short,
                                             .start = start,
                                             .report = report_life,
                                             .reset = nothing,
                                             .stop = nothing,
                                             .destroy = nothing,
                                             .handlers = &handlers_of_life};

static const hprof_collector_ops ops_calls = {.size = sizeof(hprof_collector_ops),
                                              .create = create_calls,
                                              .start = start_calls,
                                              .report = report_calls,
                                              .reset = nothing,
                                              .stop = stop_calls,
                                              .destroy = nothing};
static const hprof_collector_ops ops_probes = {.size = sizeof(hprof_collector_ops),
                                               .create = create_probes,
                                               .start = start_probes,
                                               .report = report_probes,
                                               .reset = nothing,
                                               .stop = stop_probes,
                                               .destroy = nothing};

/* What is written where nothing is open goes nowhere, and that is said. */
static const hprof_column silent_columns[] = {{.name = "reports", .type = HPROF_COLUMN_COUNT}};
static const hprof_table_schema silent_schema = {.size = sizeof(hprof_table_schema),
                                                 .column_count = 1,
                                                 .column_stride = sizeof(hprof_column),
                                                 .name = "probe.silent/1",
                                                 .title = "SILENT",
                                                 .columns = silent_columns};

static hprof_status report_silent(void* self, const hprof_report* why) {
  const hprof_host* host = (const hprof_host*)self;
  const hprof_emit_service* emit = (const hprof_emit_service*)host->service(host, HPROF_SERVICE_EMIT);
  hprof_rec_note note = {.head = {sizeof(note), HPROF_RECORD_NOTE, 0}, .text = {"probe: a note", 13}};
  const hprof_cell cell = {.u = 1};
  hprof_rec_table table = {.head = {sizeof(table), HPROF_RECORD_TABLE, 0},
                           .schema = &silent_schema,
                           .rows = &cell,
                           .row_count = 1,
                           .row_stride = sizeof(cell),
                           .order = HPROF_NO_COLUMN,
                           .period_column = HPROF_NO_COLUMN};
  (void)why;
  if (emit->write(host, &table.head) == HPROF_UNSUPPORTED) {
    expect(host, emit->write(host, &note.head) == HPROF_OK, "a note is refused");
    expect(host, emit->define(host, HPROF_RECORD_THREAD_START, 1) == HPROF_OK, "a definition is refused");
    say(self, "probe: reports without an output");
  } else {
    say(self, "probe: reports beside others");
  }
  return HPROF_OK;
}
static const hprof_collector_ops ops_silent = {.size = sizeof(hprof_collector_ops),
                                               .create = create_short,
                                               .start = start,
                                               .report = report_silent,
                                               .reset = nothing,
                                               .stop = nothing,
                                               .destroy = nothing};

static const hprof_option options[] = {
    {.name = "probe-library",
     .type = HPROF_OPTION_TEXT,
     .offset = offsetof(config, library),
     .help = "a library to open"},
};

static const hprof_unit unit_sizes = {.size = sizeof(hprof_unit),
                                      .kind = HPROF_UNIT_COLLECTOR,
                                      .id = "probe_sizes",
                                      .select = "probe=sizes",
                                      .summary = "sizes of structs",
                                      .options = options,
                                      .option_count = 1,
                                      .option_stride = sizeof(hprof_option),
                                      .config_size = sizeof(config),
                                      .ops = &ops_sizes,
                                      .extension = extension};
static const hprof_unit unit_classes = {.size = sizeof(hprof_unit),
                                        .kind = HPROF_UNIT_COLLECTOR,
                                        .id = "probe_classes",
                                        .select = "probe=classes",
                                        .summary = "class files",
                                        .needs = HPROF_NEED_CLASS_HOOKS,
                                        .ops = &ops_classes};
/* Ends before `variants`, as an older module's record would. */
static const hprof_unit unit_short = {.size = offsetof(hprof_unit, variants),
                                      .kind = HPROF_UNIT_COLLECTOR,
                                      .id = "probe_short",
                                      .select = "probe=short",
                                      .summary = "a short table of handlers",
                                      .wants = HPROF_NEED_GC_EVENTS,
                                      .events = HPROF_EVENT_THREAD_START | HPROF_EVENT_THREAD_END |
                                                HPROF_EVENT_GC_START | HPROF_EVENT_GC_FINISH,
                                      .ops = &ops_short,
                                      .variants = (const hprof_variant*)(uintptr_t)1,
                                      .variant_count = 7};
static const hprof_unit unit_life = {
    .size = sizeof(hprof_unit),
    .kind = HPROF_UNIT_COLLECTOR,
    .id = "probe_life",
    .select = "probe=life",
    .summary = "the VM's life and its classes",
    .events = HPROF_EVENT_VM_INIT | HPROF_EVENT_VM_DEATH | HPROF_EVENT_CLASS_LOAD | HPROF_EVENT_CLASS_UNLOAD,
    .ops = &ops_life};
static const hprof_unit unit_probes = {.size = sizeof(hprof_unit),
                                       .kind = HPROF_UNIT_COLLECTOR,
                                       .id = "probe_probes",
                                       .select = "probe=probes",
                                       .summary = "exceptions",
                                       .needs = HPROF_NEED_CLASS_HOOKS,
                                       .wants = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART,
                                       .ops = &ops_probes};
static const hprof_unit unit_calls = {.size = sizeof(hprof_unit),
                                      .kind = HPROF_UNIT_COLLECTOR,
                                      .id = "probe_calls",
                                      .select = "probe=calls",
                                      .summary = "calls and objects",
                                      .needs = HPROF_NEED_CLASS_HOOKS,
                                      .wants = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART,
                                      .ops = &ops_calls};
static const hprof_unit unit_silent = {.size = sizeof(hprof_unit),
                                       .kind = HPROF_UNIT_COLLECTOR,
                                       .id = "probe_silent",
                                       .select = "probe-silent=y",
                                       .summary = "a collector without an output",
                                       .flags = HPROF_UNIT_NO_OUTPUT,
                                       .events = HPROF_EVENT_THREAD_START | HPROF_EVENT_THREAD_END,
                                       .ops = &ops_silent};
static const hprof_unit* const units[] = {&unit_sizes,  &unit_classes, &unit_short, &unit_life,
                                          &unit_probes, &unit_calls,   &unit_silent};

HPROF_MODULE(probe, "1.0", "a vendor", units, 7)
