// The unit monitor: contention for monitors, waits, and the state of all monitors; with monitor=all also
// locks of java.util.concurrent, and the table BLAME.
#include <hprof/cpp/collector.hpp>
#include <hprof/tables.h>

#include "blame.h"
#include "collector.h"

namespace hprof::monitor {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "monitor=y|monitor=all";

static const hprof_option kOptions[] = {
    {"monitor", HPROF_OPTION_CHOICE, offsetof(Config, monitor), "y", "n|y|all", 0, 0, nullptr,
     "contention for monitors, or also for locks of java.util.concurrent"},
    {"interval", HPROF_OPTION_MILLIS, offsetof(Config, interval_ns), "10", nullptr, 0.1, 3600000, "<ms>",
     "time between samples of parked threads, with monitor=all"},
};

static constexpr uint64_t kWants = HPROF_NEED_MONITOR_INFO | HPROF_NEED_GC_EVENTS |
                                   HPROF_NEED_VIRTUAL_THREADS | HPROF_NEED_SOURCE_FILE |
                                   HPROF_NEED_LINE_NUMBERS;
// The method book, which slows class loading, names frames of other threads.
static const hprof_variant kVariants[] = {
    {"monitor=all", HPROF_NEED_MONITOR_EVENTS | HPROF_NEED_METHOD_BOOK, kWants},
};

static constexpr const char* kRecords[] = {HPROF_TABLE_MONITOR_TIME,
                                           HPROF_KIND_MONITOR_WAIT,
                                           HPROF_KIND_MONITOR_WAITED,
                                           HPROF_KIND_MONITOR_DUMP,
                                           HPROF_KIND_NOTE,
                                           kBlameTable,
                                           nullptr};
// A report without these still has the table.
static constexpr const char* kOptional[] = {HPROF_KIND_MONITOR_WAIT, HPROF_KIND_MONITOR_WAITED,
                                            HPROF_KIND_MONITOR_DUMP, kBlameTable, nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit =
      collector_unit<Collector, Config>("monitor", kSelect, "contended monitor usage", kRecords, kOptions);
  unit.needs = HPROF_NEED_MONITOR_EVENTS;
  unit.wants = kWants;
  unit.events |= HPROF_EVENT_VIRTUAL_THREAD_END;
  unit.flags |= HPROF_UNIT_WINDOWS;
  unit.optional = kOptional;
  unit.variants = kVariants;
  unit.variant_count = sizeof(kVariants) / sizeof(kVariants[0]);
  unit.variant_stride = sizeof(hprof_variant);
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::monitor

HPROF_MODULE(monitor, "1.0", "hprof", hprof::monitor::kUnits, 1)
