// Makes a Java command line load the agent.
#pragma once

#include <string>
#include <vector>

namespace hprof::tool {

struct Launch {
  std::vector<std::string> command;
  std::string tool_options;  // value for JAVA_TOOL_OPTIONS; empty = leave it alone
};

// `java`: -agentpath as its first argument. A launcher of the JDK (javac, jar, ...): -J-agentpath. Anything
// else: JAVA_TOOL_OPTIONS, appended to `present`. False with *error: not possible.
bool make_launch(const std::vector<std::string>& command, const std::string& library,
                 const std::string& options, const std::string& present, Launch* launch, std::string* error);

}  // namespace hprof::tool
