// The unit calls: exact counts of calls by method.
#include <atomic>
#include <cstring>

#include <hprof/cpp/collector.hpp>
#include <hprof/tables.h>

#include "collector.h"

namespace hprof::calls {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "calls=y|count=y";

static const hprof_option kOptions[] = {
    {"calls", HPROF_OPTION_FLAG, offsetof(Config, calls), "n", nullptr, 0, 0, nullptr,
     "exact number of calls of each method, without stacks"},
    {"count", HPROF_OPTION_FLAG, offsetof(Config, count), "n", nullptr, 0, 0, nullptr, HPROF_COUNT_HELP},
    {"include", HPROF_OPTION_TEXT, offsetof(Config, include), nullptr, nullptr, 0, 0, "<class>[:...]",
     "count only calls of these classes or methods: com.acme.*:com.acme.Main.run"},
    {"exclude", HPROF_OPTION_TEXT, offsetof(Config, exclude), nullptr, nullptr, 0, 0, "<class>[:...]",
     "count no calls of these classes"},
};

static constexpr const char* kRecords[] = {HPROF_TABLE_METHOD_CALLS, HPROF_KIND_NOTE, nullptr};

// The running collector, for the unit count: a process has one session.
static std::atomic<Collector*> running{nullptr};

void offer_counts(Collector* collector) { running.store(collector); }

static void run(uint32_t on) { running.load()->run(on != 0); }

static uint32_t each(void* jni, uint32_t all, void* argument,
                     void (*visit)(void* argument, const hprof_thread_count* count)) {
  return running.load()->each_count(static_cast<JNIEnv*>(jni), all != 0, argument, visit) ? 1 : 0;
}

static void each_what(void* argument, void (*visit)(void* argument, uint32_t what)) {
  ThreadCounts::each_method(argument, visit);
}

static constexpr hprof_thread_counts kCounts = {
    sizeof(hprof_thread_counts), 0, run, each, each_what, nullptr, nullptr};

static const void* extension(const char* id) {
  return strcmp(id, HPROF_EXTENSION_THREAD_COUNTS) == 0 && running.load() != nullptr ? &kCounts : nullptr;
}

static constexpr hprof_unit describe() {
  hprof_unit unit =
      collector_unit<Collector, Config>("calls", kSelect, "calls of each method", kRecords, kOptions);
  unit.needs = HPROF_NEED_CLASS_HOOKS;
  unit.flags |= HPROF_UNIT_WINDOWS;
  unit.extension = extension;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::calls

HPROF_MODULE(calls, "1.0", "hprof", hprof::calls::kUnits, 1)
