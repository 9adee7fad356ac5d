// hprof attach PID OPTIONS: loads the agent into a running VM.
#include <iostream>

#include "core/tool/agent_library.h"
#include "core/tool/command.h"
#include "platform/tool_os.h"

namespace hprof::tool {

std::string agent_library(const std::string& given, std::string* error) {
  if (!given.empty()) return os::absolute_path(given, error);
  std::string program = os::program_path();
  size_t bin = program.rfind('/');
  size_t top = bin == std::string::npos || bin == 0 ? std::string::npos : program.rfind('/', bin - 1);
  if (top == std::string::npos) {
    *error = "cannot tell where this program is; say --agent=<path of libhprof.so>";
    return {};
  }
  std::string library = program.substr(0, top) + "/lib/libhprof.so";
  if (os::file_exists(library)) return library;
  *error = library + " is not there; say --agent=<path of libhprof.so>";
  return {};
}

int attach_command(const Arguments& arguments) {
  std::string agent, value, error;
  uint64_t pid = 0, seconds = 10;
  bool plain = false;
  Arguments words;
  for (const std::string& argument : arguments) {
    if (option_value(argument, "--agent", &agent)) continue;
    if (option_value(argument, "--timeout", &value)) {
      if (!parse_number(value, 86400, &seconds)) return misuse("attach", "--timeout takes seconds");
    } else if (argument == "--as-is") {
      plain = true;
    } else if (argument.rfind("--", 0) == 0) {
      return misuse("attach", "unknown option " + argument);
    } else {
      words.push_back(argument);
    }
  }
  if (words.empty() || words.size() > 2) return misuse("attach", "PID and OPTIONS");
  if (!parse_number(words[0], INT32_MAX, &pid) || pid == 0)
    return misuse("attach", words[0] + " is no process id");
  // --as-is: a path of the target's own file system, which need not exist in ours.
  std::string library = plain ? agent : agent_library(agent, &error);
  if (library.empty()) return fail(plain ? "--as-is needs --agent=<absolute path>" : error);
  std::string answer;
  bool loaded = os::attach_agent(static_cast<int>(pid), library, words.size() == 2 ? words[1] : std::string(),
                                 static_cast<unsigned>(seconds), &answer, &error);
  if (!error.empty()) return fail(error);
  if (loaded) return kDone;
  std::cerr << "hprof: the VM refused the agent: " << answer << '\n';
  return kFoundProblems;
}

}  // namespace hprof::tool
