// The unit jvmpi: agents written for the profiler interface of JDK 1.2 to 1.5.
#include <hprof/cpp/collector.hpp>

#include "plugins/jvmpi/collector.h"

namespace hprof::jvmpi {

static const hprof_option kOptions[] = {
    {"jvmpi", HPROF_OPTION_TEXT, offsetof(Config, agent), "y", nullptr, 0, 0, "y|n|<library>[:<options>]",
     "serve JVMPI agents: those of -Xrun (y), or this library"},
    {"jvmpi-options", HPROF_OPTION_TAIL, offsetof(Config, options), nullptr, nullptr, 0, 0, "<options>",
     "options for the JVMPI agent, commas included; the last option"},
    {"jvmpi-methods", HPROF_OPTION_CHOICE, offsetof(Config, methods), "events", "off|events", 0, 0, nullptr,
     "choose how calls are seen for JVMPI agents"},
    {"jvmpi-allocs", HPROF_OPTION_FLAG, offsetof(Config, allocations), "y", nullptr, 0, 0, nullptr,
     "allow JVMPI agents to see allocations"},
};

static constexpr hprof_unit describe() {
  hprof_unit unit = collector_unit<Collector, Config>("jvmpi", "jvmpi=*", "JVMPI, for old profiler agents");
  set_options(unit, kOptions);
  unit.flags = HPROF_UNIT_NO_OUTPUT;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::jvmpi

HPROF_MODULE(jvmpi, "1.0", "hprof", hprof::jvmpi::kUnits, 1)
