// bin/hprof: runs and attaches the agent, talks to it, and checks, prints and analyses its files.
#include <iostream>
#include <new>

#include "core/base/version.h"
#include "tools/hprof/command.h"
#include "tools/hprof/size_text.h"
#include "tools/hprof/terminal.h"
#include "tools/os/os.h"

using namespace hprof::tool;

namespace {

bool wants_help(const std::string& argument) {
  return argument == "--help" || argument == "-h" || argument == "-help" || argument == "help";
}

// Reads a file into memory, whatever its lengths and counts say: compressed or hostile files take many times
// their own size. Memory is bounded by what there is to read.
bool reads_files(const std::string& command) {
  for (const char* name : {"check", "print", "diff", "view", "convert"})
    if (command == name) return true;
  return false;
}

uint64_t memory_for(const Arguments& arguments) {
  constexpr uint64_t kBase = uint64_t{256} << 20, kPerByte = 256;
  uint64_t files = 0;
  for (const std::string& argument : arguments) {
    std::string ignored;
    const int file = hprof::os::open_for_reading(argument, &ignored);
    const uint64_t size = file < 0 ? 0 : hprof::os::file_size(file);
    if (file >= 0) hprof::os::close_file(file);
    if (size != UINT64_MAX) files += size;
  }
  const uint64_t most = hprof::os::physical_memory() / 4 * 3, wanted = kBase + kPerByte * files;
  return most != 0 && most < wanted ? most : wanted;
}

int run(const ToolCommand& command, const Arguments& arguments) {
  uint64_t bound = 0;
  if (reads_files(command.name)) hprof::os::bound_memory(bound = memory_for(arguments));
  try {
    return command.run(arguments);
  } catch (const std::bad_alloc&) {
    hprof::os::bound_memory(0);
    return fail(bound == 0 ? "out of memory"
                           : "out of memory: the contents take more than " + size_text(bound));
  }
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
  return run(*command, arguments);
}
