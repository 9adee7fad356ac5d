// hprof run [options] -- java ...
#include "tools/hprof/run/run_command.h"

#include <iostream>

#include "tools/hprof/agent_library.h"
#include "tools/hprof/command.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr const char* kLaunchers[] = {"jar",       "jarsigner", "javac", "javadoc",     "javah",    "javap",
                                      "jdeps",     "jimage",    "jlink", "jmod",        "jpackage", "jshell",
                                      "jdeprscan", "keytool",   "rmic",  "rmiregistry", "serialver"};

// The VM splits JAVA_TOOL_OPTIONS at blanks; it supports quotes but no escapes.
bool quote(const std::string& text, std::string* quoted) {
  if (text.find_first_of(" \t\n'\"") == std::string::npos) {
    *quoted = text;
    return true;
  }
  char mark = text.find('\'') == std::string::npos ? '\'' : '"';
  if (text.find(mark) != std::string::npos) return false;
  *quoted = mark + text + mark;
  return true;
}

}  // namespace

bool make_launch(const std::vector<std::string>& command, const std::string& library,
                 const std::string& options, const std::string& present, Launch* launch, std::string* error) {
  std::string agent = "-agentpath:" + library + (options.empty() ? "" : "=" + options);
  std::string name = os::program_name(command[0]);
  launch->command = command;
  launch->tool_options.clear();
  if (name == "java") {
    launch->command.insert(launch->command.begin() + 1, agent);
    return true;
  }
  for (const char* launcher : kLaunchers) {
    if (name != launcher) continue;
    launch->command.insert(launch->command.begin() + 1, "-J" + agent);
    return true;
  }
  std::string quoted;
  if (!quote(agent, &quoted)) {
    *error = "these options have both kinds of quotes, which JAVA_TOOL_OPTIONS cannot hold";
    return false;
  }
  launch->tool_options = present.empty() ? quoted : present + " " + quoted;
  return true;
}

int run_command(const Arguments& arguments) {
  std::string options, agent, error;
  bool show = false;
  size_t i = 0;
  for (; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (option_value(arguments[i], "--agent", &agent)) continue;
    if (arguments[i] == "--print") {
      show = true;
    } else if (arguments[i].rfind("--", 0) == 0) {
      return misuse("run", "unknown option " + arguments[i]);
    } else {
      options += (options.empty() ? "" : ",") + arguments[i];
    }
  }
  if (i + 1 >= arguments.size()) return misuse("run", "expected -- and a command after the options");
  std::string library = agent_library(agent, &error);
  if (library.empty()) return fail(error);
  Launch launch;
  Arguments command(arguments.begin() + static_cast<long>(i) + 1, arguments.end());
  if (!make_launch(command, library, options, os::environment("JAVA_TOOL_OPTIONS"), &launch, &error)) {
    return fail(error);
  }
  if (show) {
    if (!launch.tool_options.empty()) std::cout << "JAVA_TOOL_OPTIONS=" << launch.tool_options << '\n';
    for (const std::string& word : launch.command) std::cout << word << '\n';
    return kDone;
  }
  if (!launch.tool_options.empty()) os::set_environment("JAVA_TOOL_OPTIONS", launch.tool_options);
  os::exec_program(launch.command, &error);
  return fail(error);
}

}  // namespace hprof::tool
