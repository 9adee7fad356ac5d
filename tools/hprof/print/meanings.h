// What the frames are that are no methods: of the class JVM, where a sample has no stack of the program, of
// threads' states, of the kernel.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// Each such name in the stacks and notes of a profile, and what it means, in one order.
std::vector<std::pair<std::string, std::string>> meanings_in(const Profile& profile);

}  // namespace hprof::tool
