#include "monitor_events.h"

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/events.hpp>

namespace hprof::monitor {

static constexpr hprof_column duration(const char* help) {
  return {"time", nullptr, HPROF_COLUMN_NANOSECONDS, tables::kFirst | HPROF_COLUMN_DURATION, nullptr, help};
}
static constexpr hprof_column kLock = {"lock", nullptr, HPROF_COLUMN_ID,
                                       0,      nullptr, "identity hash of the lock"};
static constexpr hprof_column kOwner = {"owner", nullptr, HPROF_COLUMN_THREAD,
                                        0,       nullptr, "thread that held the lock"};
static constexpr hprof_column kTimeout = {"timeout", nullptr, HPROF_COLUMN_NANOSECONDS,
                                          0,         nullptr, "of a wait, 0: none"};
static constexpr hprof_column kTimedOut = {"timed_out", nullptr, HPROF_COLUMN_COUNT,
                                           0,           nullptr, "1: the wait ended with its timeout"};
static constexpr hprof_column kContentionColumns[] = {
    tables::kAt,
    tables::kThread,
    tables::kMonitorTimeColumns[0],
    duration("that the thread was blocked"),
    tables::kTrace,
    tables::kMonitorTimeColumns[3],
    tables::kMonitorTimeColumns[4],
    kLock,
    kOwner,
    kTimeout,
    kTimedOut,
};
static constexpr hprof_column kWaitColumns[] = {
    tables::kAt,
    tables::kThread,
    {"waits", "count", HPROF_COLUMN_COUNT, tables::kWeight, "waits", "calls of Object.wait"},
    duration("that the thread waited"),
    tables::kTrace,
    tables::kMonitorTimeColumns[3],
    tables::kMonitorTimeColumns[4],
    kLock,
    kOwner,
    kTimeout,
    kTimedOut,
};
// [1]: where a unit sets contexts.
using WithContext = tables::WithContext<hprof_monitor_event>;
static constexpr auto kContentionsOf = tables::with_context(kContentionColumns);
static constexpr auto kWaitsOf = tables::with_context(kWaitColumns);
static constexpr hprof_table_schema kContentions[] = {
    tables::schema<hprof_monitor_event>(HPROF_TABLE_MONITOR_TIME_EVENTS, "MONITOR TIME EVENTS",
                                        kContentionColumns),
    tables::schema<WithContext>(HPROF_TABLE_MONITOR_TIME_EVENTS, "MONITOR TIME EVENTS", kContentionsOf.at)};
static constexpr hprof_table_schema kWaits[] = {
    tables::schema<hprof_monitor_event>(HPROF_TABLE_MONITOR_WAIT_EVENTS, "MONITOR WAIT EVENTS", kWaitColumns),
    tables::schema<WithContext>(HPROF_TABLE_MONITOR_WAIT_EVENTS, "MONITOR WAIT EVENTS", kWaitsOf.at)};

void MonitorEvents::open(const Services& services) {
  if (takes_events(services.host)) services_ = &services;
}

uint32_t MonitorEvents::hash_of(jvmtiEnv* jvmti, jobject lock) const {
  jint hash = 0;
  if (!are_on() || jvmti->GetObjectHashCode(lock, &hash) != JVMTI_ERROR_NONE) return 0;
  return static_cast<uint32_t>(hash);
}

hprof_thread_serial MonitorEvents::last_entered(uint32_t hash) const {
  return thread_of(entered_[hash % kMonitors].load(std::memory_order_relaxed), hash);
}

hprof_thread_serial MonitorEvents::enter(uint32_t hash, hprof_thread_serial thread) {
  if (hash == 0) return 0;
  const uint64_t entered = uint64_t{hash} << 32 | thread;
  return thread_of(entered_[hash % kMonitors].exchange(entered, std::memory_order_relaxed), hash);
}

void MonitorEvents::contention(const hprof_monitor_event& event, const hprof_context& context) const {
  if (are_on())
    emit_event(*services_, kContentions[contexts_.are_on()], tables::with_context(event, context));
}

void MonitorEvents::wait(const hprof_monitor_event& event, const hprof_context& context) const {
  if (are_on()) emit_event(*services_, kWaits[contexts_.are_on()], tables::with_context(event, context));
}

}  // namespace hprof::monitor
