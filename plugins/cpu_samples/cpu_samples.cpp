// The unit cpu_samples: CPU time by call stack, sampled.
#include <new>

#include <hprof/collector.h>

#include "plugins/cpu_samples/collector.h"

namespace hprof::samples {

static Collector* of(void* self) { return static_cast<Collector*>(self); }

static hprof_status create(const hprof_host* host, const void* config, void** self) {
  Services services(host);
  void* memory = services.mem->allocate(host, sizeof(Collector));
  if (memory == nullptr) return HPROF_NO_MEMORY;
  *self = new (memory) Collector(host, *static_cast<const Config*>(config));
  return HPROF_OK;
}
static hprof_status start(void* self) { return of(self)->start(); }
static hprof_status report(void* self, const hprof_report* report) { return of(self)->report(*report); }
static void reset(void* self) { of(self)->reset(); }
static void stop(void* self) { of(self)->stop(); }
static void destroy(void* self) {
  Services services = of(self)->services();
  if (of(self)->close()) services.mem->release(services.host, self, sizeof(Collector));
}
static hprof_status control(void* self, const hprof_control* control) { return of(self)->control(*control); }
static void thread_start(void* self, void*, hprof_thread* thread) { of(self)->thread_start(thread); }
static void thread_end(void* self, void*, hprof_thread* thread) { of(self)->thread_end(thread); }

static const hprof_handlers kHandlers = {
    sizeof(hprof_handlers),
    0,
    nullptr,
    thread_start,
    thread_end,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

static const hprof_collector_ops kOps = {
    sizeof(hprof_collector_ops), 0, create, start, report, reset, stop, destroy, control, &kHandlers,
};

static const hprof_option kOptions[] = {
    {"interval", HPROF_OPTION_MILLIS, offsetof(Config, interval_ns), "10", nullptr, 0.01, 3600000, "<ms>",
     "CPU time between samples of a thread"},
    {"sampler", HPROF_OPTION_CHOICE, offsetof(Config, sampler), "auto", "auto|signal|jvmti", 0, 0, nullptr,
     "how stacks are sampled"},
};

// Class loads are demanded by AsyncGetCallTrace; precise code makes the attribution of inlined methods exact.
static const hprof_unit kUnit = {
    sizeof(hprof_unit),
    HPROF_UNIT_COLLECTOR,
    "cpu_samples",
    "cpu=samples|cpu=y",
    "CPU time by call stack, sampled",
    kOptions,
    sizeof kOptions / sizeof kOptions[0],
    sizeof(hprof_option),
    sizeof(Config),
    0,
    HPROF_NEED_METHOD_BOOK,
    HPROF_NEED_SOURCE_FILE | HPROF_NEED_LINE_NUMBERS | HPROF_NEED_THREAD_CPU | HPROF_NEED_PRECISE_CODE,
    HPROF_EVENT_THREAD_START | HPROF_EVENT_THREAD_END | HPROF_EVENT_CLASS_LOAD | HPROF_EVENT_CLASS_PREPARE,
    HPROF_RECORD_BIT(HPROF_RECORD_CPU_SAMPLES) | HPROF_RECORD_BIT(HPROF_RECORD_NOTE),
    &kOps,
};
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::samples

HPROF_MODULE(cpu_samples, "1.0", "hprof", hprof::samples::kUnits, 1)
