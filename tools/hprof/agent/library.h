// Finds the agent's library and the files of it that a JVM needs.
#pragma once

#include <string>
#include <vector>

#include "tools/os/attach.h"

namespace hprof::tool {

// The absolute path of `given` or, if empty, of ../lib/<name of the agent> beside this program. Empty with
// *error: none.
std::string agent_library(const std::string& given, std::string* error);

// Reads the library and the plugins beside it, with names relative to its folder.
bool read_agent(const std::string& library, std::vector<os::FileCopy>* files, std::string* error);
// A hash of names and contents as 16 hex digits.
std::string identity_of(const std::vector<os::FileCopy>& files);

}  // namespace hprof::tool
