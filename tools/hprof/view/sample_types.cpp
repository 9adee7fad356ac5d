#include "tools/hprof/view/sample_types.h"

#include <algorithm>

namespace hprof::tool {

namespace {

struct Word {
  const char* type;
  ProfileTable (*table)();
  const char* weight;
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
    {"cpu", samples_table, "time"},
    {"wall", samples_table, "wall"},
};

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

TypedWeight weight_of_type(const std::string& type, const std::string& unit, const ProfileTable& known,
                           uint64_t period) {
  const uint64_t scale = unit == "microseconds"   ? 1000
                         : unit == "milliseconds" ? 1000000
                         : unit == "seconds"      ? 1000000000
                                                  : 1;
  ProfileWeight weight{type, type, ProfileWeight::kCount, false, false};
  if (unit == "bytes") weight.unit = ProfileWeight::kBytes;
  if (unit == "nanoseconds" || scale != 1) weight.unit = ProfileWeight::kNanoseconds;
  const Word* word = word_of(type);
  if (word == nullptr || word->table().name != known.name) return {weight, scale};
  weight.name = weight.title = word->weight;
  for (const ProfileWeight& same : known.weights) {
    if (same.name != weight.name) continue;
    weight.title = same.title;
    weight.state = same.state;
    weight.sample = same.sample;
  }
  if (known.name == "cpu_samples" && weight.unit == ProfileWeight::kNanoseconds) weight.sample = period;
  return {weight, scale};
}

}  // namespace hprof::tool
