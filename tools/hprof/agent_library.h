// Where the agent is, and what of it a JVM has to see.
#pragma once

#include <string>
#include <vector>

#include "platform/tool_attach.h"

namespace hprof::tool {

// Absolute path of `given`, or when that is empty of ../lib/<name of the agent> beside this program.
// Empty with *error.
std::string agent_library(const std::string& given, std::string* error);

// The library and the plugins beside it, named as they stand in its folder.
bool read_agent(const std::string& library, std::vector<os::FileCopy>* files, std::string* error);
// 16 hex digits that stand for names and content.
std::string identity_of(const std::vector<os::FileCopy>& files);

}  // namespace hprof::tool
