// The data for the man pages and the completion.
#pragma once

#include <string>
#include <vector>

namespace hprof::manual {

struct Option {
  std::string name;    // "cpu"
  std::string values;  // "samples|times|old|y|off", "<file>"
  std::string preset;  // "": none
  std::string help;
  std::string owner;  // "core", or the id of the unit
};

// The fixed values of an option, "samples", "times", ...; free values are left out.
std::vector<std::string> fixed_values(const Option& option);

std::string tool_page(const std::string& version);                                       // hprof(1)
std::string agent_page(const std::string& version, const std::vector<Option>& options);  // hprof-agent(7)
std::string bash_completion(const std::vector<Option>& options);
std::string zsh_completion(const std::vector<Option>& options);

// Prints "agent-commands", the commands of a running agent, or the items of core/vm_tables that change the
// VM, "agent-items-change", or do not, "agent-items-read", as Markdown. False: no table has that name.
bool print_agent_table(const std::string& name);

}  // namespace hprof::manual
