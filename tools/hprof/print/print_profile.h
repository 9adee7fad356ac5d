// The last table of each kind in a report: its methods, its hottest path, and its rows.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

struct ProfileView {
  uint64_t top = 20;     // rows of each table, 0 = all
  bool lines = false;    // only sums by line
  bool traces = false;   // every row with its stack
  bool threads = false;  // a table of threads
};

void print_profile(const Profile& profile, const ProfileView& view, std::ostream& out);

}  // namespace hprof::tool
