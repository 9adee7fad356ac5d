// What changed between tables without stacks.
#pragma once

#include <ostream>
#include <string>

#include "tools/heap/output/document.h"
#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// Prints the rows of tables without stacks that differ: before and after of each number, the largest change
// of the column `by` first, else of the one that ranks the rows or the first one. top: rows of each table, 0
// = all.
void print_plain_changes(const Profile& before, const Profile& after, const std::string& by, uint64_t top,
                         std::ostream& out);
// The same in JSON, a part for each table that both have.
Section json_of_plain_changes(const Profile& before, const Profile& after, const std::string& by,
                              uint64_t top);

}  // namespace hprof::tool
