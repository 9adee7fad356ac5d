// Where the agent is.
#pragma once

#include <string>

namespace hprof::tool {

// Absolute path of `given`, or when that is empty of ../lib/libhprof.so beside this program. Empty with
// *error.
std::string agent_library(const std::string& given, std::string* error);

}  // namespace hprof::tool
