// The unit jvmpi: agents written for the profiler interface of JDK 1.2 to 1.5.
#include <hprof/cpp/collector.hpp>

#include "collector.h"

namespace hprof::jvmpi {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "jvmpi=*";

static const hprof_option kOptions[] = {
    {"jvmpi", HPROF_OPTION_TEXT, offsetof(Config, agent), "y", nullptr, 0, 0, "y|n|<library>[:<options>]",
     "serve JVMPI agents: those of -Xrun (y), or this library; %2C is a comma of its options"},
    {"jvmpi-methods", HPROF_OPTION_CHOICE, offsetof(Config, methods), "auto", "off|events|probes|auto", 0, 0,
     nullptr, "choose the source of method events for JVMPI agents"},
    {"jvmpi-allocs", HPROF_OPTION_CHOICE, offsetof(Config, allocations), "y", "n|y|probes", 0, 0, nullptr,
     "choose the source of allocation events for JVMPI agents: none, the VM, or probes"},
};

static constexpr uint64_t kProbesWant = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART;
static const hprof_variant kVariants[] = {
    {"jvmpi-methods=probes", HPROF_NEED_CLASS_HOOKS, kProbesWant},
    {"jvmpi-allocs=probes", HPROF_NEED_CLASS_HOOKS, kProbesWant},
    {"jvmpi-methods=events", 0, 0},
    {"jvmpi-methods=off", 0, 0},
};

static constexpr hprof_unit describe() {
  hprof_unit unit = collector_unit<Collector, Config>("jvmpi", kSelect, "JVMPI, for old profiler agents",
                                                      nullptr, kOptions);
  unit.flags = HPROF_UNIT_NO_OUTPUT;
  unit.wants = HPROF_NEED_CLASS_HOOKS;
  unit.variants = kVariants;
  unit.variant_count = sizeof(kVariants) / sizeof(kVariants[0]);
  unit.variant_stride = sizeof(hprof_variant);
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::jvmpi

HPROF_MODULE(jvmpi, "1.0", "hprof", hprof::jvmpi::kUnits, 1)
