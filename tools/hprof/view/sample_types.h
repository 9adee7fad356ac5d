// The sample types of pprof and OTLP as weights of tables.
#pragma once

#include <string>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// The table of hprof's with a weight of that type, without rows; its name is empty: there is none.
ProfileTable table_with_type(const std::string& type);

// The classes of durations of latency=, without weights and rows. Their types are those of cpu=times; what
// tells them apart is that samples have the bounds of their class.
ProfileTable latency_table();
constexpr const char *kFromLabel = "from", *kToLabel = "to";

struct TypedWeight {
  ProfileWeight weight;
  uint64_t scale;  // how many of the weight's units one of the type's is
};
// What a sample stands for, in a unit; 0: not known.
struct Period {
  std::string unit;
  uint64_t value = 0;
};
// known: what table_with_type() returned for a type of the table, or latency_table().
TypedWeight weight_of_type(const std::string& type, const std::string& unit, const ProfileTable& known,
                           const Period& period);

}  // namespace hprof::tool
