// The unit vm_events: what happens in the VM, as events only.
#include <hprof/cpp/collector.hpp>

#include "collector.h"

namespace hprof::vm_events {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "format=jfr";

static constexpr const char* kRecords[] = {nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit = collector_unit<Collector>("vm_events", kSelect, "threads, GC pauses, heap and CPU load");
  unit.flags = HPROF_UNIT_WINDOWS;
  unit.wants = HPROF_NEED_GC_EVENTS;
  unit.records = kRecords;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::vm_events

HPROF_MODULE(vm_events, "1.0", "hprof", hprof::vm_events::kUnits, 1)
