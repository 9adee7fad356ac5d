// The unit cpu_samples: CPU time by call stack, sampled.
#include <hprof/cpp/collector.hpp>
#include <hprof/tables.h>

#include "collector.h"

namespace hprof::samples {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "cpu=samples|cpu=y";

static const hprof_option kOptions[] = {
    {"interval", HPROF_OPTION_MILLIS, offsetof(Config, interval_ns), "10", nullptr, 0.01, 3600000, "<ms>",
     "time between samples of a thread"},
    {"clock", HPROF_OPTION_CHOICE, offsetof(Config, clock), "cpu", "cpu|wall", 0, 0, nullptr,
     "sample CPU time or elapsed time"},
    {"threads", HPROF_OPTION_TEXT, offsetof(Config, threads), "", nullptr, 0, 0, "<name>[:...]",
     "sample threads of these names; * for any text"},
    {"sampler", HPROF_OPTION_CHOICE, offsetof(Config, sampler), "auto", "auto|signal|jvmti|native", 0, 0,
     nullptr, "choose the sampling engine; native adds a frame for native code (docs/cpu-samples.md)"},
};

static constexpr const char* kRecords[] = {HPROF_TABLE_CPU_SAMPLES, HPROF_KIND_NOTE, nullptr};

// AsyncGetCallTrace requires class load events.
static constexpr hprof_unit describe() {
  hprof_unit unit = collector_unit<Collector, Config>("cpu_samples", kSelect,
                                                      "CPU time by call stack, sampled", kRecords, kOptions);
  unit.needs = HPROF_NEED_METHOD_BOOK;
  unit.wants = HPROF_NEED_SOURCE_FILE | HPROF_NEED_LINE_NUMBERS | HPROF_NEED_THREAD_CPU;
  unit.events |= HPROF_EVENT_CLASS_LOAD | HPROF_EVENT_CLASS_PREPARE;
  unit.flags |= HPROF_UNIT_WINDOWS | HPROF_UNIT_REPORTS_FIRST;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::samples

HPROF_MODULE(cpu_samples, "1.0", "hprof", hprof::samples::kUnits, 1)
