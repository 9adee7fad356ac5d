// The unit context: what threads work for.
#include <cstddef>

#include <hprof/cpp/collector.hpp>

#include "collector.h"

namespace hprof::context {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "plugin=context";

static const hprof_option kOptions[] = {
    {"context-by", HPROF_OPTION_TEXT, offsetof(Config, by), "", nullptr, 0, 0, "<label>[:...]",
     "keep only these labels of contexts, by which rows are told apart"},
};

static constexpr const char* kRecords[] = {nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit = collector_unit<Collector, Config>(
      "context", kSelect, "what threads work for, as tracers say it", kRecords, kOptions);
  unit.flags = HPROF_UNIT_NO_OUTPUT | HPROF_UNIT_WINDOWS;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::context

HPROF_MODULE(context, "1.0", "hprof", hprof::context::kUnits, 1)
