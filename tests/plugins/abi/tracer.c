/*
 * A vendor's tracer: each call of a method of the class Spans$Inside is a span of its own, which the thread
 * has as its context.
 */
#include <jni.h>
#include <stdio.h>

#include <hprof/collector.h>
#include <hprof/service/context.h>
#include <hprof/service/ids.h>
#include <hprof/service/log.h>
#include <hprof/service/probes.h>

#define TRACE_HIGH 0x0123456789abcdefull
#define TRACE_LOW 0xfedcba9876543210ull

static const hprof_probes_service* probes;
static const hprof_context_service* contexts;
static hprof_string_id labels;
static uint32_t number;
static uint64_t spans, refused;

static jlong JNICALL begins(JNIEnv* jni, jclass of, jlong self, jint method) {
  const uint64_t span = __atomic_add_fetch(&spans, 1, __ATOMIC_RELAXED);
  const hprof_context context = {sizeof(context), labels, TRACE_HIGH, TRACE_LOW, span};
  (void)jni;
  (void)of;
  (void)method;
  if (contexts->set((const hprof_host*)(uintptr_t)self, &context) != HPROF_OK)
    __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
  return (jlong)span;
}

static void JNICALL ends(JNIEnv* jni, jclass of, jlong self, jlong call) {
  (void)jni;
  (void)of;
  (void)call;
  contexts->set((const hprof_host*)(uintptr_t)self, NULL);
}

static hprof_status create(const hprof_host* host, const void* options, void** self, char* error,
                           uint32_t error_size) {
  const hprof_ids_service* ids = (const hprof_ids_service*)host->service(host, HPROF_SERVICE_IDS);
  const hprof_text route = {"route:/inside", 13};
  static hprof_target targets[] = {
      {.point = HPROF_POINT_BEGIN}, {.point = HPROF_POINT_END}, {.point = HPROF_POINT_UNWIND}};
  const hprof_probe_user user = {.size = sizeof(user),
                                 .targets = targets,
                                 .target_count = 3,
                                 .self = (void*)(uintptr_t)host,
                                 .include = "Spans$Inside"};
  hprof_context none = {.size = sizeof(none)};
  (void)options;
  *self = user.self;
  targets[0].function = (void (*)(void))begins;
  targets[1].function = targets[2].function = (void (*)(void))ends;
  probes = (const hprof_probes_service*)host->service(host, HPROF_SERVICE_PROBES);
  contexts = (const hprof_context_service*)host->service(host, HPROF_SERVICE_CONTEXT);
  labels = ids->string(host, route);
  if (contexts->read(host, 1, &none) == HPROF_UNSUPPORTED && probes != NULL &&
      contexts->enable(host) == HPROF_OK && contexts->read(host, 1, &none) == HPROF_FAILED &&
      probes->ask(host, &user, &number) == HPROF_OK)
    return HPROF_OK;
  snprintf(error, error_size, "no contexts or no probes");
  return HPROF_UNSUPPORTED;
}
static hprof_status start(void* self) { return probes->start((const hprof_host*)self, number); }
static void stop(void* self) { probes->stop((const hprof_host*)self, number); }
static hprof_status report(void* self, const hprof_report* why) {
  const hprof_host* host = (const hprof_host*)self;
  const hprof_log_service* log = (const hprof_log_service*)host->service(host, HPROF_SERVICE_LOG);
  char line[100];
  (void)why;
  snprintf(line, sizeof(line), "tracer: %d spans, %d refused", (int)spans, (int)refused);
  log->message(host, line);
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
                                .id = "tracer",
                                .select = "tracer=y",
                                .summary = "calls as spans",
                                .flags = HPROF_UNIT_NO_OUTPUT,
                                .needs = HPROF_NEED_CLASS_HOOKS,
                                .wants = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART,
                                .ops = &ops};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(tracer, "1.0", "a vendor", units, 1)
