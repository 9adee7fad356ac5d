// The last table of each kind in a report: its methods, its hottest path, and its rows.
#pragma once

#include "tools/hprof/print/print_options.h"
#include "tools/hprof/view/profile.h"

namespace hprof::tool {

void print_profile(const Profile& profile, const PrintOptions& options, std::ostream& out);

}  // namespace hprof::tool
