// The unit cpu_times: exact counts of calls, and their time.
#include <hprof/cpp/collector.hpp>
#include <hprof/tables.h>

#include "collector.h"

namespace hprof::times {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "cpu=times|cpu=old";

static const hprof_option kOptions[] = {
    {"cpu", HPROF_OPTION_TEXT, offsetof(Config, cpu), nullptr, nullptr, 0, 0, nullptr, "CPU usage"},
    {"clock", HPROF_OPTION_CHOICE, offsetof(Config, times), "cpu", "cpu|wall", 0, 0, nullptr,
     "sampled CPU time, or elapsed time of each call"},
    {"interval", HPROF_OPTION_MILLIS, offsetof(Config, interval_ns), "1", nullptr, 0.1, 1000, "<ms>",
     "time between samples of the threads' clocks"},
    {"include", HPROF_OPTION_TEXT, offsetof(Config, include), nullptr, nullptr, 0, 0, "<class>[:...]",
     "count only calls of these classes or methods: com.acme.*:com.acme.Main.run"},
    {"exclude", HPROF_OPTION_TEXT, offsetof(Config, exclude), nullptr, nullptr, 0, 0, "<class>[:...]",
     "count no calls of these classes"},
};

static constexpr const char* kRecords[] = {HPROF_TABLE_CPU_TIMES, HPROF_TABLE_CPU_OLD, HPROF_KIND_NOTE,
                                           nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit = collector_unit<Collector, Config>("cpu_times", kSelect, "CPU usage by timing methods",
                                                      kRecords, kOptions);
  unit.needs = HPROF_NEED_CLASS_HOOKS;
  unit.wants = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART | HPROF_NEED_THREAD_CPU;
  unit.flags |= HPROF_UNIT_WINDOWS | HPROF_UNIT_REPORTS_FIRST;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::times

HPROF_MODULE(cpu_times, "1.0", "hprof", hprof::times::kUnits, 1)
