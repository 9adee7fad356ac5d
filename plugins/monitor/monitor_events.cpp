#include "monitor_events.h"

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/events.hpp>

namespace hprof::monitor {

static constexpr hprof_column duration(const char* help) {
  return {"time", nullptr, HPROF_COLUMN_NANOSECONDS, tables::kFirst | HPROF_COLUMN_DURATION, nullptr, help};
}
static constexpr hprof_column kContentionColumns[] = {
    tables::kAt,
    tables::kThread,
    tables::kMonitorTimeColumns[0],
    duration("that the thread was blocked"),
    tables::kTrace,
    tables::kMonitorTimeColumns[3],
    tables::kMonitorTimeColumns[4],
};
static constexpr hprof_column kWaitColumns[] = {
    tables::kAt,
    tables::kThread,
    {"waits", "count", HPROF_COLUMN_COUNT, tables::kWeight, "waits", "calls of Object.wait"},
    duration("that the thread waited"),
    tables::kTrace,
    tables::kMonitorTimeColumns[3],
    tables::kMonitorTimeColumns[4],
};
static constexpr hprof_table_schema kContentions = tables::schema<hprof_monitor_event>(
    HPROF_TABLE_MONITOR_TIME_EVENTS, "MONITOR TIME EVENTS", kContentionColumns);
static constexpr hprof_table_schema kWaits =
    tables::schema<hprof_monitor_event>(HPROF_TABLE_MONITOR_WAIT_EVENTS, "MONITOR WAIT EVENTS", kWaitColumns);

void MonitorEvents::open(const Services& services) {
  if (takes_events(services.host)) services_ = &services;
}

void MonitorEvents::contention(const hprof_monitor_event& event) const {
  if (are_on()) emit_event(*services_, kContentions, event);
}

void MonitorEvents::wait(const hprof_monitor_event& event) const {
  if (are_on()) emit_event(*services_, kWaits, event);
}

}  // namespace hprof::monitor
