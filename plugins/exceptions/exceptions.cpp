// The unit exceptions: exceptions by class, where they are made, and where they are caught.
#include <hprof/cpp/collector.hpp>
#include <hprof/tables.h>

#include "collector.h"

namespace hprof::exceptions {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "exceptions=y";

static const hprof_option kOptions[] = {
    {"exceptions", HPROF_OPTION_FLAG, offsetof(Config, exceptions), "n", nullptr, 0, 0, nullptr,
     "count exceptions by class, where they are made, and where they are caught"},
};

static constexpr const char* kRecords[] = {HPROF_TABLE_EXCEPTIONS, HPROF_TABLE_CATCHES, HPROF_KIND_NOTE,
                                           nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit = collector_unit<Collector, Config>("exceptions", kSelect, "exceptions made and caught",
                                                      kRecords, kOptions);
  unit.needs = HPROF_NEED_CLASS_HOOKS;
  unit.flags |= HPROF_UNIT_WINDOWS;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::exceptions

HPROF_MODULE(exceptions, "1.0", "hprof", hprof::exceptions::kUnits, 1)
