// The unit monitor: contention for monitors, waits, and the state of all monitors; and monitor_all, the same
// with locks of java.util.concurrent, the table BLAME and the method book.
#include <hprof/cpp/collector.hpp>
#include <hprof/tables.h>

#include "blame.h"
#include "collector.h"

namespace hprof::monitor {

// CMake reads these lines, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "monitor=y";
static constexpr const char* kSelectAll = "monitor=all";

static const hprof_option kOptions[] = {
    {"interval", HPROF_OPTION_MILLIS, offsetof(Config, interval_ns), "10", nullptr, 0.1, 3600000, "<ms>",
     "time between samples of parked threads"},
};

static constexpr uint64_t kWants = HPROF_NEED_MONITOR_INFO | HPROF_NEED_GC_EVENTS |
                                   HPROF_NEED_VIRTUAL_THREADS | HPROF_NEED_SOURCE_FILE |
                                   HPROF_NEED_LINE_NUMBERS;
static constexpr const char* kRecords[] = {HPROF_TABLE_MONITOR_TIME,  HPROF_KIND_MONITOR_WAIT,
                                           HPROF_KIND_MONITOR_WAITED, HPROF_KIND_MONITOR_DUMP,
                                           HPROF_KIND_NOTE,           nullptr};
static constexpr const char* kRecordsAll[] = {HPROF_TABLE_MONITOR_TIME,
                                              HPROF_KIND_MONITOR_WAIT,
                                              HPROF_KIND_MONITOR_WAITED,
                                              HPROF_KIND_MONITOR_DUMP,
                                              HPROF_KIND_NOTE,
                                              kBlameTable,
                                              nullptr};

// A report without these still has the table.
static constexpr const char* kOptional[] = {HPROF_KIND_MONITOR_WAIT, HPROF_KIND_MONITOR_WAITED,
                                            HPROF_KIND_MONITOR_DUMP, nullptr};
static constexpr const char* kOptionalAll[] = {HPROF_KIND_MONITOR_WAIT, HPROF_KIND_MONITOR_WAITED,
                                               HPROF_KIND_MONITOR_DUMP, kBlameTable, nullptr};

static constexpr hprof_unit describe(const char* id, const char* select, const char* summary,
                                     OptionRows options = {}) {
  hprof_unit unit = collector_unit<Collector, Config>(id, select, summary, kRecords, options);
  unit.needs = HPROF_NEED_MONITOR_EVENTS;
  unit.wants = kWants;
  unit.events |= HPROF_EVENT_VIRTUAL_THREAD_END;
  unit.flags |= HPROF_UNIT_WINDOWS;
  unit.optional = kOptional;
  return unit;
}
// The method book, which slows class loading, names frames of other threads: monitor=all only.
static constexpr hprof_unit describe_all() {
  hprof_unit unit = describe("monitor_all", kSelectAll, "contended monitor and lock usage", kOptions);
  unit.needs |= HPROF_NEED_METHOD_BOOK;
  unit.records = kRecordsAll;
  unit.optional = kOptionalAll;
  return unit;
}
static constexpr hprof_unit kUnit = describe("monitor", kSelect, "contended monitor usage");
static constexpr hprof_unit kUnitAll = describe_all();
static const hprof_unit* const kUnits[] = {&kUnit, &kUnitAll};

}  // namespace hprof::monitor

HPROF_MODULE(monitor, "1.0", "hprof", hprof::monitor::kUnits, 2)
