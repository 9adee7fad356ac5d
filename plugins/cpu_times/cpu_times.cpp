// The unit cpu_times: calls counted exactly, and their time.
#include <new>

#include <hprof/collector.h>

#include "plugins/cpu_times/collector.h"

namespace hprof::times {

static Collector* of(void* self) { return static_cast<Collector*>(self); }

static hprof_status create(const hprof_host* host, const void* config, void** self) {
  Services services(host);
  void* memory = services.mem->allocate(host, sizeof(Collector));
  if (memory == nullptr) return HPROF_NO_MEMORY;
  *self = new (memory) Collector(host, *static_cast<const Config*>(config));
  return of(*self)->ask();
}
static hprof_status start(void* self) { return of(self)->start(); }
static hprof_status report(void* self, const hprof_report* report) { return of(self)->report(*report); }
static void reset(void* self) { of(self)->reset(); }
static void stop(void* self) { of(self)->stop(); }
// Probes that have begun may still run: what they use stays.
static void destroy(void*) {}
static void thread_start(void* self, void* jni, hprof_thread* thread) { of(self)->thread_start(jni, thread); }
static void thread_end(void* self, void* jni, hprof_thread* thread) { of(self)->thread_end(jni, thread); }

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
    sizeof(hprof_collector_ops), 0, create, start, report, reset, stop, destroy, nullptr, &kHandlers,
};

static const hprof_option kOptions[] = {
    {"cpu", HPROF_OPTION_TEXT, offsetof(Config, cpu), nullptr, nullptr, 0, 0, nullptr, "CPU usage"},
    {"times", HPROF_OPTION_CHOICE, offsetof(Config, times), "sampled", "sampled|clock|clock:cpu", 0, 0,
     nullptr, "how cpu=times takes the time: CPU clocks looked at, or elapsed or CPU time of each call"},
    {"times-interval", HPROF_OPTION_MILLIS, offsetof(Config, times_interval_ns), "1", nullptr, 0.1, 1000,
     "<ms>", "time between two looks, with times=sampled"},
    {"max-nodes", HPROF_OPTION_INT, offsetof(Config, max_nodes), "1000000", nullptr, 1, 100000000, "<count>",
     "traces that cpu=times keeps; more are counted as their callers"},
    {"include", HPROF_OPTION_TEXT, offsetof(Config, include), nullptr, nullptr, 0, 0, "<class>[:...]",
     "only calls of these classes: com.acme.*"},
    {"exclude", HPROF_OPTION_TEXT, offsetof(Config, exclude), nullptr, nullptr, 0, 0, "<class>[:...]",
     "no calls of these classes"},
};

static const hprof_unit kUnit = {
    sizeof(hprof_unit),
    HPROF_UNIT_COLLECTOR,
    "cpu_times",
    "cpu=times|cpu=old",
    "CPU usage by timing methods",
    kOptions,
    sizeof kOptions / sizeof kOptions[0],
    sizeof(hprof_option),
    sizeof(Config),
    0,
    HPROF_NEED_CLASS_HOOKS,
    HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART | HPROF_NEED_THREAD_CPU,
    HPROF_EVENT_THREAD_START | HPROF_EVENT_THREAD_END | HPROF_EVENT_CLASS_FILE_LOAD,
    HPROF_RECORD_BIT(HPROF_RECORD_CPU_TIMES) | HPROF_RECORD_BIT(HPROF_RECORD_CPU_OLD) |
        HPROF_RECORD_BIT(HPROF_RECORD_NOTE),
    &kOps,
};
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::times

HPROF_MODULE(cpu_times, "1.0", "hprof", hprof::times::kUnits, 1)
