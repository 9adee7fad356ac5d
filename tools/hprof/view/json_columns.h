// How columns of weights are named and described in JSON.
#pragma once

#include <string>
#include <vector>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// The names of a table's columns, each once, with the unit of times and bytes: "calls", "time_ns",
// "live_bytes".
std::vector<std::string> column_keys(const ProfileTable& table);
// "count", "ns", "bytes"
const char* unit_of(const ProfileWeight& column);
// "sampled", "measured" (times) or "exact"
const char* numbers_of(const Profile& profile, const ProfileTable& table, const ProfileWeight& column);
// True: exact, and the same whenever the same happens.
bool repeats(const Profile& profile, const ProfileTable& table, const ProfileWeight& column);

}  // namespace hprof::tool
