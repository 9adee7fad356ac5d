// hprof diff of two profiles.
#pragma once

#include <vector>

#include "tools/hprof/command.h"
#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// Prints what changed in each table that both profiles have, and writes the page of -o. Returns an
// ExitStatus.
int diff_profiles(std::vector<Profile> two, const Given& given);

}  // namespace hprof::tool
