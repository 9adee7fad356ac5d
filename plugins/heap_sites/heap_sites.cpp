// The unit heap_sites: what was allocated where.
#include <atomic>
#include <cstring>

#include <hprof/cpp/collector.hpp>
#include <hprof/draft/object_traces.h>
#include <hprof/tables.h>

#include "collector.h"

namespace hprof::sites {

// CMake reads this line, too, for the core's table of shipped modules.
static constexpr const char* kSelect = "heap=sites|heap=all|count=y";

static const hprof_option kOptions[] = {
    {"sites", HPROF_OPTION_TEXT, offsetof(Config, sites), "auto", nullptr, 0, 0,
     "auto|exact|sampled[:<bytes>]",
     "count every object, or sample one per <bytes> allocated (512k); auto: sampled when attached"},
    {"sites-live", HPROF_OPTION_FLAG, offsetof(Config, follow), "y", nullptr, 0, 0, nullptr,
     "track objects until they die, for the live columns"},
    {"early", HPROF_OPTION_FLAG, offsetof(Config, early), "y", nullptr, 0, 0, nullptr,
     "also rewrite the classes of the JDK; switches off class-data archive and AOT cache"},
    {"count", HPROF_OPTION_FLAG, offsetof(Config, count), "n", nullptr, 0, 0, nullptr, HPROF_COUNT_HELP},
};

// Wants of sites=sampled: no class hook, so CDS and the AOT cache stay on.
static constexpr uint64_t kSampledWants =
    HPROF_NEED_GC_EVENTS | HPROF_NEED_SOURCE_FILE | HPROF_NEED_LINE_NUMBERS | HPROF_NEED_VIRTUAL_THREADS;
static constexpr uint64_t kLateWants =
    HPROF_NEED_VM_OBJECT_ALLOC | HPROF_NEED_GC_EVENTS | HPROF_NEED_SOURCE_FILE | HPROF_NEED_LINE_NUMBERS;
static constexpr uint64_t kExactWants = kLateWants | HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART;
static const hprof_variant kVariants[] = {
    {"sites=sampled*", HPROF_NEED_SAMPLED_ALLOC, kSampledWants},
    {"attached", HPROF_NEED_SAMPLED_ALLOC, kSampledWants},
    {"early=n", HPROF_NEED_CLASS_HOOKS, kLateWants},
};

// The running collector, for units that ask for its traces: a process has one session.
static std::atomic<Collector*> running{nullptr};

void offer_traces(Collector* collector) { running.store(collector); }

static uint64_t begin_traces() {
  Collector* collector = running.load();
  return collector != nullptr ? collector->begin_traces() : 0;
}

static void each_trace(void* argument, void (*visit)(void* argument, void* weak, hprof_trace_serial trace)) {
  running.load()->each_trace([&](void* weak, uint32_t trace) { visit(argument, weak, trace); });
}

static void end_traces() { running.load()->end_traces(); }

static const hprof_object_traces kTraces = {sizeof(hprof_object_traces), 0, begin_traces, each_trace,
                                            end_traces};

static void run(uint32_t on) { running.load()->run(on != 0); }

static uint32_t each_count(void* jni, uint32_t all, void* argument,
                           void (*visit)(void* argument, const hprof_thread_count* count)) {
  return running.load()->each_count(jni, all != 0, argument, visit) ? 1 : 0;
}

static void open_count(void* jni, uint32_t on) { running.load()->open_count(jni, on != 0); }

static void hide(void* jni, uint32_t on) { running.load()->hide(jni, on != 0); }

static const hprof_thread_counts kCounts = {
    sizeof(hprof_thread_counts), 0, run, each_count, nullptr, hide, open_count};

static const void* extension(const char* id) {
  if (strcmp(id, HPROF_EXTENSION_THREAD_COUNTS) == 0) return running.load() != nullptr ? &kCounts : nullptr;
  return strcmp(id, HPROF_EXTENSION_OBJECT_TRACES) == 0 ? &kTraces : nullptr;
}

static constexpr const char* kRecords[] = {HPROF_TABLE_ALLOC_SITES, HPROF_TABLE_HEAP_SUMMARY, HPROF_KIND_NOTE,
                                           nullptr};

static constexpr hprof_unit describe() {
  hprof_unit unit =
      collector_unit<Collector, Config>("heap_sites", kSelect, "allocation sites", kRecords, kOptions);
  unit.needs = HPROF_NEED_CLASS_HOOKS;
  unit.wants = kExactWants;
  unit.flags |= HPROF_UNIT_WINDOWS;
  unit.variants = kVariants;
  unit.variant_count = sizeof(kVariants) / sizeof(kVariants[0]);
  unit.variant_stride = sizeof(hprof_variant);
  unit.extension = extension;
  return unit;
}
static constexpr hprof_unit kUnit = describe();
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::sites

HPROF_MODULE(heap_sites, "1.0", "hprof", hprof::sites::kUnits, 1)
