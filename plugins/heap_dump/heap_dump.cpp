// The unit heap_dump: complete heap dumps.
#include <new>

#include <hprof/collector.h>

#include "plugins/heap_dump/collector.h"

namespace hprof::dump {

static Collector* of(void* self) { return static_cast<Collector*>(self); }

static hprof_status create(const hprof_host* host, const void* config, void** self) {
  Services services(host);
  void* memory = services.mem->allocate(host, sizeof(Collector));
  if (memory == nullptr) return HPROF_NO_MEMORY;
  *self = new (memory) Collector(host, *static_cast<const Config*>(config));
  return HPROF_OK;
}
static hprof_status start(void*) { return HPROF_OK; }
static hprof_status report(void* self, const hprof_report* report) { return of(self)->report(*report); }
static void reset(void*) {}
static void stop(void*) {}
static void destroy(void* self) {
  Services services = of(self)->services();
  of(self)->close();
  services.mem->release(services.host, self, sizeof(Collector));
}
static hprof_status control(void*, const hprof_control*) { return HPROF_UNSUPPORTED; }
static void reported(void* self) { of(self)->give_back(); }

static const hprof_collector_ops kOps = {
    sizeof(hprof_collector_ops), 0, create, start, report, reset, stop, destroy, control, nullptr, reported,
};

static const hprof_option kOptions[] = {
    {"dump", HPROF_OPTION_CHOICE, offsetof(Config, engine), "auto", "auto|jvmti|vm", 0, 0, nullptr,
     "who walks the heap"},
    {"live", HPROF_OPTION_FLAG, offsetof(Config, live), "y", nullptr, 0, 0, nullptr,
     "leave unreachable objects out?"},
    {"redact", HPROF_OPTION_CHOICE, offsetof(Config, redact), "none", "none|basic|full", 0, 0, nullptr,
     "zero text (basic) or all values (full)"},
    {"primfields", HPROF_OPTION_FLAG, offsetof(Config, primitive_fields), "y", nullptr, 0, 0, nullptr,
     "primitive fields in dumps?"},
    {"primarrays", HPROF_OPTION_FLAG, offsetof(Config, primitive_arrays), "y", nullptr, 0, 0, nullptr,
     "primitive arrays in dumps?"},
    {"addresses", HPROF_OPTION_FLAG, offsetof(Config, addresses), "y", nullptr, 0, 0, nullptr,
     "dump=jvmti: name objects by address where that works?"},
};

static const hprof_unit kUnit = {
    sizeof(hprof_unit),
    HPROF_UNIT_COLLECTOR,
    "heap_dump",
    "heap=dump|heap=all",
    "complete heap",
    kOptions,
    sizeof kOptions / sizeof kOptions[0],
    sizeof(hprof_option),
    sizeof(Config),
    0,
    0,
    0,
    0,
    HPROF_RECORD_BIT(HPROF_RECORD_NOTE) | HPROF_RECORD_BIT(HPROF_RECORD_HEAP_DUMP_BEGIN) |
        HPROF_RECORD_BIT(HPROF_RECORD_HEAP_DUMP_END) | HPROF_RECORD_BIT(HPROF_RECORD_HEAP_ROOT) |
        HPROF_RECORD_BIT(HPROF_RECORD_HEAP_CLASS) | HPROF_RECORD_BIT(HPROF_RECORD_HEAP_INSTANCE) |
        HPROF_RECORD_BIT(HPROF_RECORD_HEAP_OBJECT_ARRAY) |
        HPROF_RECORD_BIT(HPROF_RECORD_HEAP_PRIMITIVE_ARRAY),
    &kOps,
};
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::dump

HPROF_MODULE(heap_dump, "1.0", "hprof", hprof::dump::kUnits, 1)
