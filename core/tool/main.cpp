// bin/hprof: runs and attaches the agent, talks to it, and checks and prints its files.
#include <iostream>

#include "core/tool/command.h"

using namespace hprof::tool;

namespace {

struct Command {
  const char* name;
  int (*run)(const Arguments&);
};
constexpr Command kCommands[] = {{"run", run_command},     {"attach", attach_command},
                                 {"ctl", ctl_command},     {"listen", listen_command},
                                 {"check", check_command}, {"print", print_command}};

bool wants_help(const std::string& argument) {
  return argument == "--help" || argument == "-h" || argument == "-help" || argument == "help";
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments(values + 1, values + count);
  if (arguments.empty()) {
    std::cerr << help_text("");
    return kFailed;
  }
  std::string name = arguments[0];
  arguments.erase(arguments.begin());
  if (wants_help(name)) {
    const char* text = help_text(arguments.empty() ? "" : arguments[0]);
    if (text == nullptr) return fail("no command '" + arguments[0] + "'");
    std::cout << text;
    return kDone;
  }
  if (name == "--version") {
    std::cout << "hprof " HPROF_TOOL_VERSION "\n";
    return kDone;
  }
  for (const Command& command : kCommands) {
    if (name != command.name) continue;
    if (!arguments.empty() && wants_help(arguments[0])) {
      std::cout << help_text(name);
      return kDone;
    }
    return command.run(arguments);
  }
  return fail("no command '" + name + "'; one of run, attach, ctl, listen, check, print (hprof --help)");
}
