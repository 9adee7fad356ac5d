/*
 * A vendor's recorder: what methods of the class Values$Inside are called with, and what they return, a line
 * each.
 */
#include <jni.h>
#include <stdio.h>
#include <string.h>

#include <hprof/collector.h>
#include <hprof/service/log.h>
#include <hprof/service/probes.h>

#define MOST 4096

static const hprof_probes_service* probes;
static uint32_t number;
static char lines[MOST][120];
static uint32_t line_count;

/* "-": null; a string; "@": another object. */
static void put(JNIEnv* jni, char* to, jobject object) {
  jclass string = (*jni)->FindClass(jni, "java/lang/String");
  strcpy(to, object == NULL ? "-" : "@");
  if (object != NULL && (*jni)->IsInstanceOf(jni, object, string)) {
    const char* text = (*jni)->GetStringUTFChars(jni, (jstring)object, NULL);
    snprintf(to, 20, "%s", text);
    (*jni)->ReleaseStringUTFChars(jni, (jstring)object, text);
  }
  (*jni)->DeleteLocalRef(jni, string);
}

static jlong JNICALL passes(JNIEnv* jni, jclass of, jlong self, jint method, jobject object, jobject first,
                            jobject last, jlong first_value, jlong last_value) {
  const uint32_t line = __atomic_fetch_add(&line_count, 1, __ATOMIC_RELAXED);
  char objects[3][20];
  (void)of;
  (void)self;
  (void)method;
  if (line >= MOST) return 0;
  put(jni, objects[0], object);
  put(jni, objects[1], first);
  put(jni, objects[2], last);
  snprintf(lines[line], sizeof lines[line], "values: called %s %s %s %lld %lld", objects[0], objects[1],
           objects[2], (long long)first_value, (long long)last_value);
  return (*jni)->IsSameObject(jni, first, last) ? 1 : 2;
}

static void JNICALL returns(JNIEnv* jni, jclass of, jlong self, jlong call, jobject result, jlong value) {
  const uint32_t line = __atomic_fetch_add(&line_count, 1, __ATOMIC_RELAXED);
  char object[20];
  (void)of;
  (void)self;
  if (line >= MOST) return;
  put(jni, object, result);
  snprintf(lines[line], sizeof lines[line], "values: returned %d %s %lld", (int)call, object,
           (long long)value);
}

static void JNICALL unwinds(JNIEnv* jni, jclass of, jlong self, jlong call) {
  const uint32_t line = __atomic_fetch_add(&line_count, 1, __ATOMIC_RELAXED);
  (void)jni;
  (void)of;
  (void)self;
  if (line < MOST) snprintf(lines[line], sizeof lines[line], "values: left %d", (int)call);
}

static hprof_status create(const hprof_host* host, const void* options, void** self, char* error,
                           uint32_t error_size) {
  static hprof_target targets[] = {
      {.point = HPROF_POINT_ARGUMENTS}, {.point = HPROF_POINT_RESULT}, {.point = HPROF_POINT_UNWIND}};
  const hprof_probe_user user = {.size = sizeof(user),
                                 .flags = HPROF_PROBES_ON_DEMAND | HPROF_PROBES_ATTACHED,
                                 .targets = targets,
                                 .target_count = 3,
                                 .include = "Values$Inside"};
  (void)options;
  *self = (void*)(uintptr_t)host;
  targets[0].function = (void (*)(void))passes;
  targets[1].function = (void (*)(void))returns;
  targets[2].function = (void (*)(void))unwinds;
  probes = (const hprof_probes_service*)host->service(host, HPROF_SERVICE_PROBES);
  if (probes != NULL && probes->ask(host, &user, &number) == HPROF_OK) return HPROF_OK;
  snprintf(error, error_size, "no probes");
  return HPROF_UNSUPPORTED;
}
static hprof_status start(void* self) { return probes->start((const hprof_host*)self, number); }
static void stop(void* self) { probes->stop((const hprof_host*)self, number); }
static hprof_status report(void* self, const hprof_report* why) {
  const hprof_host* host = (const hprof_host*)self;
  const hprof_log_service* log = (const hprof_log_service*)host->service(host, HPROF_SERVICE_LOG);
  (void)why;
  for (uint32_t i = 0; i < line_count && i < MOST; i++) log->message(host, lines[i]);
  return HPROF_OK;
}
static void nothing(void* self) { (void)self; }

static const hprof_collector_ops ops = {.size = sizeof(hprof_collector_ops),
                                        .create = create,
                                        .start = start,
                                        .report = report,
                                        .reset = nothing,
                                        .stop = stop,
                                        .destroy = nothing};
static const hprof_unit unit = {.size = sizeof(hprof_unit),
                                .kind = HPROF_UNIT_COLLECTOR,
                                .id = "values",
                                .select = "values=y",
                                .summary = "calls with their values",
                                .flags = HPROF_UNIT_NO_OUTPUT,
                                .needs = HPROF_NEED_CLASS_HOOKS,
                                .ops = &ops};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(values, "1.0", "a vendor", units, 1)
