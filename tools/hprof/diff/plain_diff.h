// hprof diff of tables without stacks, such as call latencies: the cells of both files beside each other.
#pragma once

#include <ostream>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// Prints the rows that differ of each such table that both profiles have, in the order of AFTER. top: rows of
// each, 0 = all. False: they have none.
bool print_plain_changes(const Profile& before, const Profile& after, uint64_t top, std::ostream& out);

}  // namespace hprof::tool
