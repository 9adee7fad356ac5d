// The unit msa: micro state accounting, or the nearest thing that the system has, per thread.
#include <new>

#include "plugins/msa/collector.h"

namespace hprof::msa {

static Collector* of(void* self) { return static_cast<Collector*>(self); }

static hprof_status create(const hprof_host* host, const void*, void** self) {
  Services services(host);
  void* memory = services.mem->allocate(host, sizeof(Collector));
  if (memory == nullptr) return HPROF_NO_MEMORY;
  auto* collector = new (memory) Collector;
  hprof_status status = collector->open(host);
  if (status == HPROF_OK) {
    *self = collector;
  } else {
    services.mem->release(host, memory, sizeof(Collector));
  }
  return status;
}
static hprof_status start(void* self) { return of(self)->start(); }
static hprof_status report(void* self, const hprof_report*) { return of(self)->report(); }
static void reset(void* self) { of(self)->reset(); }
static void stop(void*) {}
static void destroy(void* self) {
  Services services = of(self)->services();
  of(self)->close();
  services.mem->release(services.host, self, sizeof(Collector));
}
static hprof_status control(void*, const hprof_control*) { return HPROF_UNSUPPORTED; }
static void thread_end(void* self, void*, hprof_thread* thread) { of(self)->thread_end(thread); }

static const hprof_handlers kHandlers = {
    sizeof(hprof_handlers),
    0,
    nullptr,
    nullptr,
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

static const hprof_unit kUnit = {
    sizeof(hprof_unit),
    HPROF_UNIT_COLLECTOR,
    "msa",
    "msa=y",
    "micro state accounting of the threads",
    nullptr,
    0,
    sizeof(hprof_option),
    0,
    0,
    0,
    0,
    HPROF_EVENT_THREAD_START | HPROF_EVENT_THREAD_END,
    HPROF_RECORD_BIT(HPROF_RECORD_NOTE),
    &kOps,
    nullptr,
};
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::msa

HPROF_MODULE(msa, "1.0", "hprof", hprof::msa::kUnits, 1)
