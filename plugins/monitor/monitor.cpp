// The unit monitor: contention for monitors, waits, and the state of all monitors. Twice, since monitor=all
// needs more.
#include <new>

#include <hprof/collector.h>

#include "plugins/monitor/collector.h"

namespace hprof::monitor {

static Collector* of(void* self) { return static_cast<Collector*>(self); }

static hprof_status create_with(const hprof_host* host, const Config& config, void** self) {
  Services services(host);
  void* memory = services.mem->allocate(host, sizeof(Collector));
  if (memory == nullptr) return HPROF_NO_MEMORY;
  auto* collector = new (memory) Collector(host, config);
  *self = collector;
  hprof_status status = collector->open();
  if (status == HPROF_OK) return HPROF_OK;
  *self = nullptr;
  services.mem->release(host, memory, sizeof(Collector));
  return status;
}
static hprof_status create(const hprof_host* host, const void*, void** self) {
  return create_with(host, Config{0}, self);
}
static hprof_status create_all(const hprof_host* host, const void* config, void** self) {
  return create_with(host, *static_cast<const Config*>(config), self);
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

static void thread_end(void* self, void* jni, hprof_thread* thread) { of(self)->thread_end(jni, thread); }
static void collection(void* self) { of(self)->collection(); }
static void enter(void* self, void* jni, hprof_thread* thread, void* object) {
  of(self)->contended_enter(jni, thread, object);
}
static void entered(void* self, void* jni, hprof_thread* thread, void* object) {
  of(self)->contended_entered(jni, thread, object);
}
static void wait(void* self, void* jni, hprof_thread* thread, void* object, int64_t timeout_ms) {
  of(self)->wait(jni, thread, object, timeout_ms);
}
static void waited(void* self, void* jni, hprof_thread* thread, void*, uint32_t) {
  of(self)->waited(jni, thread);
}

static const hprof_handlers kHandlers = {
    sizeof(hprof_handlers),
    0,
    nullptr,
    nullptr,
    thread_end,
    nullptr,
    collection,
    collection,
    enter,
    entered,
    wait,
    waited,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};
static const hprof_collector_ops kOps = {
    sizeof(hprof_collector_ops), 0, create, start, report, reset, stop, destroy, control, &kHandlers,
};
static const hprof_collector_ops kOpsAll = {
    sizeof(hprof_collector_ops), 0, create_all, start, report, reset, stop, destroy, control, &kHandlers,
};

static const hprof_option kOptions[] = {
    {"park-interval", HPROF_OPTION_MILLIS, offsetof(Config, park_interval_ns), "10", nullptr, 0.1, 3600000,
     "<ms>", "time between looks at parked threads"},
};

static constexpr uint64_t kWants = HPROF_NEED_MONITOR_INFO | HPROF_NEED_GC_EVENTS |
                                   HPROF_NEED_VIRTUAL_THREADS | HPROF_NEED_SOURCE_FILE |
                                   HPROF_NEED_LINE_NUMBERS;
static constexpr uint64_t kEvents =
    HPROF_EVENT_THREAD_END | HPROF_EVENT_VIRTUAL_THREAD_END | HPROF_EVENT_GC_START | HPROF_EVENT_GC_FINISH |
    HPROF_EVENT_MONITOR_CONTENDED_ENTER | HPROF_EVENT_MONITOR_CONTENDED_ENTERED | HPROF_EVENT_MONITOR_WAIT |
    HPROF_EVENT_MONITOR_WAITED;
static constexpr uint64_t kRecords =
    HPROF_RECORD_BIT(HPROF_RECORD_MONITOR_TIME) | HPROF_RECORD_BIT(HPROF_RECORD_MONITOR_WAIT) |
    HPROF_RECORD_BIT(HPROF_RECORD_MONITOR_WAITED) | HPROF_RECORD_BIT(HPROF_RECORD_MONITOR_DUMP) |
    HPROF_RECORD_BIT(HPROF_RECORD_NOTE);

static const hprof_unit kUnit = {
    sizeof(hprof_unit),
    HPROF_UNIT_COLLECTOR,
    "monitor",
    "monitor=y",
    "contended monitor usage",
    nullptr,
    0,
    sizeof(hprof_option),
    0,
    0,
    HPROF_NEED_MONITOR_EVENTS,
    kWants,
    kEvents,
    kRecords,
    &kOps,
};
// Frames of other threads are named by the method book, which costs something at each class load: only here.
static const hprof_unit kUnitAll = {
    sizeof(hprof_unit),
    HPROF_UNIT_COLLECTOR,
    "monitor_all",
    "monitor=all",
    "contended monitor and lock usage",
    kOptions,
    sizeof kOptions / sizeof kOptions[0],
    sizeof(hprof_option),
    sizeof(Config),
    0,
    HPROF_NEED_MONITOR_EVENTS | HPROF_NEED_METHOD_BOOK,
    kWants,
    kEvents | HPROF_EVENT_CLASS_PREPARE,
    kRecords,
    &kOpsAll,
};
static const hprof_unit* const kUnits[] = {&kUnit, &kUnitAll};

}  // namespace hprof::monitor

HPROF_MODULE(monitor, "1.0", "hprof", hprof::monitor::kUnits, 2)
