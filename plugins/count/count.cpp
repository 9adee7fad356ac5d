// The unit count: counts that a program begins and ends.
#include <hprof/cpp/collector.hpp>

#include "collector.h"

namespace hprof::count {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "count=y";

static const hprof_option kOptions[] = {
    {"count", HPROF_OPTION_FLAG, offsetof(Config, count), "n", nullptr, 0, 0, nullptr, HPROF_COUNT_HELP},
};

static constexpr const char* kRecords[] = {nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit = collector_unit<Collector, Config>(
      "count", kSelect, "calls and objects that a program counts", kRecords, kOptions);
  unit.flags = HPROF_UNIT_NO_OUTPUT | HPROF_UNIT_WINDOWS;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::count

HPROF_MODULE(count, "1.0", "hprof", hprof::count::kUnits, 1)
