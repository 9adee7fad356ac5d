// The unit context: what threads work for.
#include <hprof/cpp/collector.hpp>

#include "collector.h"

namespace hprof::context {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "plugin=context";

static constexpr const char* kRecords[] = {nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit =
      collector_unit<Collector>("context", kSelect, "what threads work for, as tracers say it", kRecords);
  unit.flags = HPROF_UNIT_NO_OUTPUT | HPROF_UNIT_WINDOWS;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::context

HPROF_MODULE(context, "1.0", "hprof", hprof::context::kUnits, 1)
