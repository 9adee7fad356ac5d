// bin/hprof: runs and attaches the agent, talks to it, and checks, prints and analyses its files.
#include <iostream>

#include "core/base/version.h"
#include "tools/hprof/command.h"
#include "tools/hprof/terminal.h"

using namespace hprof::tool;

namespace {

bool wants_help(const std::string& argument) {
  return argument == "--help" || argument == "-h" || argument == "-help" || argument == "help";
}

}  // namespace

int main(int count, char** values) {
  const PrintableStreams streams;
  Arguments arguments(values + 1, values + count);
  if (arguments.empty()) {
    std::cerr << help_text("");
    return kFailed;
  }
  std::string name = arguments[0];
  arguments.erase(arguments.begin());
  if (wants_help(name)) {
    std::string text = help_text(arguments.empty() ? "" : arguments[0]);
    if (text.empty()) return fail("no command '" + arguments[0] + "'");
    std::cout << text;
    return kDone;
  }
  if (name == "--version") {
    std::cout << hprof::kVersionText << "\n";
    return kDone;
  }
  const ToolCommand* command = find_tool_command(name);
  if (command == nullptr) {
    return fail("no command '" + name + "'; one of " + tool_command_names() + " (hprof --help)");
  }
  if (!arguments.empty() && wants_help(arguments[0])) {
    std::cout << help_text(name);
    return kDone;
  }
  return command->run(arguments);
}
