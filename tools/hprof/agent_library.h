// Finds the agent's library and the files of it that a JVM needs.
#pragma once

#include <string>
#include <vector>

#include "tools/os/attach.h"

namespace hprof::tool {

// Absolute path of `given` or, if that is empty, of ../lib/<name of the agent> beside this program. Empty
// with *error.
std::string agent_library(const std::string& given, std::string* error);

// The library and the plugins beside it, by their names relative to its folder.
bool read_agent(const std::string& library, std::vector<os::FileCopy>* files, std::string* error);
// A hash of names and contents, 16 hex digits.
std::string identity_of(const std::vector<os::FileCopy>& files);

}  // namespace hprof::tool
