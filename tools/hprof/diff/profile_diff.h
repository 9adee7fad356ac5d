// hprof diff of two profiles.
#pragma once

#include <vector>

#include "tools/hprof/command.h"
#include "tools/hprof/diff/count_check.h"
#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// Prints what changed in each table that both profiles have, and which conditions hold, and writes the page
// of -o. runs: of BEFORE; conditions are on all of them, the rest is on the first. Returns an ExitStatus.
int diff_profiles(std::vector<Profile> runs, Profile after, const std::vector<Condition>& conditions,
                  const Given& given);

}  // namespace hprof::tool
