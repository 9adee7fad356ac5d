// The unit queues: how long tasks wait in executors.
#include <hprof/cpp/collector.hpp>
#include <hprof/tables.h>

#include "collector.h"

namespace hprof::queues {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "queues=y";

static const hprof_option kOptions[] = {
    {"queues", HPROF_OPTION_FLAG, offsetof(Config, queues), "n", nullptr, 0, 0, nullptr,
     "how long tasks wait in executors, by submitter and executor"},
};

static constexpr const char* kRecords[] = {HPROF_TABLE_QUEUES, HPROF_KIND_NOTE, nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit =
      collector_unit<Collector, Config>("queues", kSelect, "waits of tasks in executors", kRecords, kOptions);
  unit.needs = HPROF_NEED_CLASS_HOOKS;
  unit.wants = HPROF_NEED_SOURCE_FILE | HPROF_NEED_LINE_NUMBERS;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::queues

HPROF_MODULE(queues, "1.0", "hprof", hprof::queues::kUnits, 1)
