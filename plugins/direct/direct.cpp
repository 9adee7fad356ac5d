// The unit direct: who holds memory outside of the heap.
#include <hprof/cpp/collector.hpp>

#include "collector.h"

namespace hprof::direct {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "direct=y";

static const hprof_option kOptions[] = {
    {"direct", HPROF_OPTION_FLAG, offsetof(Config, direct), "n", nullptr, 0, 0, nullptr,
     "direct buffers, segments and other memory outside of the heap, and mapped files, by stack"},
};

static constexpr const char* kRecords[] = {kDirectMemory, kMappedFiles, HPROF_KIND_NOTE, nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit = collector_unit<Collector, Config>("direct", kSelect, "direct memory", kRecords, kOptions);
  unit.needs = HPROF_NEED_CLASS_HOOKS;
  unit.flags |= HPROF_UNIT_WINDOWS;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::direct

HPROF_MODULE(direct, "1.0", "hprof", hprof::direct::kUnits, 1)
