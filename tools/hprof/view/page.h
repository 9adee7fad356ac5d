// The page that draws profiles: one self-contained HTML file.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// One profile, or two to be compared, the earlier one first.
void write_page(const std::vector<Profile>& profiles, std::ostream& out);

}  // namespace hprof::tool
