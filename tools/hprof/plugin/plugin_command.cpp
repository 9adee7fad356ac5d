// hprof plugin: help for writing and checking units.
#include "tools/hprof/plugin/plugin_command.h"

namespace hprof::tool {

int plugin_command(const Arguments& arguments) {
  const std::string word = arguments.empty() ? "" : arguments[0];
  const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (word == "list") return plugin_list(rest);
  if (word == "new") return plugin_new(rest);
  if (word == "check") return plugin_check(rest);
  return misuse("plugin", "list, new or check");
}

}  // namespace hprof::tool
