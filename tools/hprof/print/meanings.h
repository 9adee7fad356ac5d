// What the rows of the class JVM are, which stand where a sample has no stack of the program.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// Each name of the class JVM in the stacks and notes of a profile, and what it means, in one order.
std::vector<std::pair<std::string, std::string>> meanings_in(const Profile& profile);

}  // namespace hprof::tool
