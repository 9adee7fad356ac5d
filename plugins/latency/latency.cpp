// The unit latency: how long the calls of chosen methods take.
#include <hprof/cpp/collector.hpp>
#include <hprof/tables.h>

#include "collector.h"

namespace hprof::latency {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "latency";

static const hprof_option kOptions[] = {
    {"latency", HPROF_OPTION_TEXT, offsetof(Config, latency), nullptr, nullptr, 0, 0, "<class>[:...]",
     "time each call of these classes or methods: com.acme.*:com.acme.Main.run"},
    {"latency-events", HPROF_OPTION_MILLIS, offsetof(Config, events_ns), "0", nullptr, 0, 3600000, "<ms>",
     "write each of these calls that takes at least this as an event, with its stack; 0: none"},
};

static constexpr const char* kRecords[] = {HPROF_TABLE_LATENCY, HPROF_TABLE_LATENCY_CLASSES, HPROF_KIND_NOTE,
                                           nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit = collector_unit<Collector, Config>("latency", kSelect, "call latency", kRecords, kOptions);
  unit.needs = HPROF_NEED_CLASS_HOOKS;
  unit.flags |= HPROF_UNIT_WINDOWS;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::latency

HPROF_MODULE(latency, "1.0", "hprof", hprof::latency::kUnits, 1)
