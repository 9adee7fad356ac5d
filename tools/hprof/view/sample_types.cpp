#include "tools/hprof/view/sample_types.h"

#include <algorithm>

namespace hprof::tool {

namespace {

struct Word {
  const char* type;
  ProfileTable (*table)();
  const char* weight;
  const char* counted = nullptr;  // the weight where the type's unit is "count"; null: the same
};
constexpr Word kWords[] = {
    {"inuse_space", sites_table, "live_bytes"},
    {"inuse_objects", sites_table, "live_objects"},
    {"alloc_space", sites_table, "allocated_bytes"},
    {"alloc_objects", sites_table, "allocated_objects"},
    {"contentions", monitors_table, "contentions"},
    {"delay", monitors_table, "time"},
    {"calls", times_table, "calls"},
    {"time", times_table, "time"},
    {"samples", samples_table, "samples"},
    {"cpu", samples_table, "time", "samples"},
    {"wall", samples_table, "wall"},
    // Of async-profiler and its converter:
    {"ctimer", samples_table, "time", "samples"},
    {"itimer", samples_table, "time", "samples"},
    {"perf_events", samples_table, "time", "samples"},
    {"object_sampler", sites_table, "allocated_bytes", "samples"},
    {"allocations", sites_table, "allocated_bytes", "samples"},
    {"lock_tracer", monitors_table, "time", "contentions"},
    {"locks", monitors_table, "time", "contentions"},
};

struct TimeUnit {
  const char *name, *short_name;
  uint64_t nanoseconds;
};
constexpr TimeUnit kTimeUnits[] = {{"nanoseconds", "ns", 1},
                                   {"microseconds", "us", 1000},
                                   {"milliseconds", "ms", 1000000},
                                   {"seconds", "s", 1000000000}};

const Word* word_of(const std::string& type) {
  const auto* found =
      std::find_if(std::begin(kWords), std::end(kWords), [&](const Word& word) { return type == word.type; });
  return found == std::end(kWords) ? nullptr : found;
}

}  // namespace

ProfileTable table_with_type(const std::string& type) {
  const Word* word = word_of(type);
  return word == nullptr ? ProfileTable() : word->table();
}

ProfileTable latency_table() { return {"latency_classes", "CALL LATENCY CLASSES", {}, {}}; }

TypedWeight weight_of_type(const std::string& type, const std::string& unit, const ProfileTable& known,
                           const Period& period) {
  TypedWeight typed = {{type, type, ProfileWeight::kCount, false, false}, 1};
  ProfileWeight& weight = typed.weight;
  if (unit == "bytes") weight.unit = ProfileWeight::kBytes;
  for (const TimeUnit& each : kTimeUnits) {
    if (unit != each.name && unit != each.short_name) continue;
    weight.unit = ProfileWeight::kNanoseconds;
    typed.scale = each.nanoseconds;
  }
  const Word* word = word_of(type);
  if (word != nullptr && word->table().name == known.name) {
    const bool is_counted = word->counted != nullptr && weight.unit == ProfileWeight::kCount;
    weight.name = weight.title = is_counted ? word->counted : word->weight;
    for (const ProfileWeight& same : known.weights) {
      if (same.name != weight.name) continue;
      weight.title = same.title;
      weight.state = same.state;
      weight.sample = same.sample;
    }
  }
  if (weight.name == "samples") weight.sample = 1;
  if (weight.unit != ProfileWeight::kCount && unit == period.unit) weight.sample = period.value * typed.scale;
  return typed;
}

}  // namespace hprof::tool
