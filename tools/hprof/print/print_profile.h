// The last table of each kind in a report, with its stacks, or its sums by line.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

struct ProfileView {
  uint64_t top = 20;   // rows of each table, 0 = all
  bool lines = false;  // sums by line in place of rows
};

void print_profile(const Profile& profile, const ProfileView& view, std::ostream& out);

}  // namespace hprof::tool
