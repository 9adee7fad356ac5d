// hprof plugin list: the units that the agent finds, and where.
//
// The agent itself prints them: its library is loaded into this process and gets the option help, which needs
// no VM and ends the process.
#include <cstdint>

#include "platform/platform.h"
#include "tools/hprof/agent/library.h"
#include "tools/hprof/plugin/plugin_command.h"

namespace hprof::tool {

namespace {

// Agent_OnLoad (JVMTI). With the option help the agent uses neither pointer.
using OnLoad = int32_t (*)(void* vm, char* options, void* reserved);

int list(const std::string& library, std::string options) {
  platform::Library agent;
  char reason[512];
  if (platform::library_open(library.c_str(), &agent, reason, sizeof(reason)) != 0) return fail(reason);
  auto on_load = reinterpret_cast<OnLoad>(platform::library_symbol(agent, "Agent_OnLoad"));
  if (on_load == nullptr) return fail(library + " is not an agent: it does not export Agent_OnLoad");
  on_load(nullptr, options.data(), nullptr);
  return fail(library + " did not print its help");
}

}  // namespace

int plugin_list(const Given& given) {
  std::string error, folders;
  for (const std::string& folder : given.words) {
    if (folder.find_first_of(",:") != std::string::npos)
      return given.misuse("no folder of plugins= may have ',' or ':' in its name: " + folder);
    folders += (folders.empty() ? ",plugins=" : ":") + folder;
  }
  const std::string library = agent_library(given.text("--agent"), &error);
  if (library.empty()) return fail(error);
  return list(library, (given.has("-v") ? "help=units" : "help=plugins") + folders);
}

}  // namespace hprof::tool
