// The unit calls: exact counts of calls by method.
#include <hprof/cpp/collector.hpp>
#include <hprof/tables.h>

#include "collector.h"

namespace hprof::calls {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "calls=y";

static const hprof_option kOptions[] = {
    {"calls", HPROF_OPTION_FLAG, offsetof(Config, calls), "n", nullptr, 0, 0, nullptr,
     "exact number of calls of each method, without stacks"},
    {"include", HPROF_OPTION_TEXT, offsetof(Config, include), nullptr, nullptr, 0, 0, "<class>[:...]",
     "count only calls of these classes or methods: com.acme.*:com.acme.Main.run"},
    {"exclude", HPROF_OPTION_TEXT, offsetof(Config, exclude), nullptr, nullptr, 0, 0, "<class>[:...]",
     "count no calls of these classes"},
};

static constexpr const char* kRecords[] = {HPROF_TABLE_METHOD_CALLS, HPROF_KIND_NOTE, nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit =
      collector_unit<Collector, Config>("calls", kSelect, "calls of each method", kRecords, kOptions);
  unit.needs = HPROF_NEED_CLASS_HOOKS;
  unit.flags |= HPROF_UNIT_WINDOWS;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::calls

HPROF_MODULE(calls, "1.0", "hprof", hprof::calls::kUnits, 1)
