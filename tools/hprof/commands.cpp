// The table of commands, and how a command is run.
#include <iostream>
#include <new>
#include <stdexcept>

#include "core/base/version.h"
#include "tools/hprof/command.h"
#include "tools/hprof/other_programs.h"
#include "tools/hprof/size_text.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr const Command* kAll[] = {&kRunCommand,    &kProfileCommand, &kThreadsCommand, &kAttachCommand,
                                   &kCtlCommand,    &kListenCommand,  &kCheckCommand,   &kPrintCommand,
                                   &kDiffCommand,   &kPluginCommand,  &kViewCommand,    &kConvertCommand,
                                   &kDoctorCommand, &kHeapCommand};

// Of the wire format that writers/encoder_otlp writes, and `print` and `view` read.
constexpr char kOtlpVersion[] = ", OTLP profiles of opentelemetry-proto 1.10";

// Command lines of earlier versions, and what replaces them.
struct Replaced {
  const char* command;
  const char* argument;  // ends in '=': also with anything behind it
  const char* now;
};
constexpr Replaced kReplaced[] = {
    {"attach", "command=", "hprof ctl PID COMMAND"},
    {"heap", "diff", "hprof diff BEFORE AFTER"},
    {"view", "--diff", "hprof diff BEFORE AFTER -o FILE.html"},
};

const char* replacement_of(const std::string& command, const Arguments& arguments) {
  for (const Replaced& row : kReplaced) {
    if (command != row.command) continue;
    const std::string old = row.argument;
    for (const std::string& argument : arguments)
      if (argument == old || (old.back() == '=' && argument.rfind(old, 0) == 0)) return row.now;
  }
  return nullptr;
}

bool is_help(const std::string& argument, bool first) {
  return argument == "--help" || argument == "-h" || (first && (argument == "-help" || argument == "help"));
}

bool wants_help(const Arguments& arguments) {
  // `hprof run help -- java` asks the agent.
  const bool asks_agent = arguments.size() > 1 && arguments[1] == "--";
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i)
    if (is_help(arguments[i], i == 0 && !asks_agent)) return true;
  return false;
}

// Compressed and hostile files take many times their size: memory is bounded by the size of the input.
uint64_t memory_for(const Arguments& words) {
  constexpr uint64_t kBase = uint64_t{256} << 20, kPerByte = 256;
  uint64_t bytes = 0;
  for (const std::string& path : files_of(words)) {
    std::string ignored;
    const int file = os::open_for_reading(path, &ignored);
    const uint64_t size = file < 0 ? 0 : os::file_size(file);
    if (file >= 0) os::close_file(file);
    if (size != UINT64_MAX) bytes += size;
  }
  const uint64_t most = os::physical_memory() / 4 * 3, wanted = kBase + kPerByte * bytes;
  return most != 0 && most < wanted ? most : wanted;
}

int run(const Command& command, const Verb& verb, const Given& given) {
  const uint64_t bound = command.reads_files ? memory_for(given.words) : 0;
  if (bound != 0) os::bound_memory(bound);
  try {
    const int status = verb.run(given);
    os::bound_memory(0);
    return status;
  } catch (const std::exception& problem) {
    os::bound_memory(0);
    return fail(failure_text(problem, bound));
  }
}

int unknown_command(const Arguments& line) {
  const std::string& name = line[0];
  const std::string ours = ours_for(line);
  if (!ours.empty()) return fail("in hprof this is: " + ours);
  std::vector<std::string> names;
  std::string all;
  for (const Command* command : kCommandRows) {
    names.emplace_back(command->name);
    all += (all.empty() ? "; one of " : ", ") + names.back();
  }
  const std::string like = guess(name, names);
  return fail("no command '" + name + "'" + (like.empty() ? all : like) + " (hprof --help)");
}

}  // namespace

constexpr Rows<const Command*> kCommandRows = kAll;

std::string failure_text(const std::exception& problem, uint64_t bound) {
  // A length that a file claims may be more than a container can have.
  const bool memory = dynamic_cast<const std::bad_alloc*>(&problem) != nullptr ||
                      dynamic_cast<const std::length_error*>(&problem) != nullptr;
  if (!memory) return "cannot go on: " + std::string(problem.what());
  return bound == 0 ? "out of memory" : "out of memory: the contents take more than " + size_text(bound);
}

int fail(const std::string& text) {
  std::cerr << "hprof: " << text << '\n';
  return kFailed;
}

int unreadable(const Arguments& files, const std::string& text) {
  int status = kFoundProblems;
  fail(text);
  for (const std::string& path : files) {
    std::string ignored;
    const int file = os::open_for_reading(path, &ignored);
    if (file >= 0)
      os::close_file(file);
    else
      status = kFailed;
  }
  return status;
}

int Given::misuse(const std::string& text) const {
  std::cerr << "hprof " << command_->name << ": " << text << "\nSee: hprof " << command_->name << " --help\n";
  return kFailed;
}

const Command* command_named(const std::string& name) {
  for (const Command* command : kCommandRows)
    if (name == command->name) return command;
  return nullptr;
}

int run_command_line(const Arguments& line) {
  if (line.empty()) {
    std::cerr << overview_text();
    return kFailed;
  }
  const bool help_first = is_help(line[0], true);
  if (line[0] == "--version" || (help_first && line.size() == 1)) {
    std::cout << (help_first ? overview_text() : std::string(kVersionText) + kOtlpVersion + "\n");
    return kDone;
  }
  const std::string& name = line[help_first ? 1 : 0];
  const Command* command = command_named(name);
  if (command == nullptr) return unknown_command(Arguments(line.begin() + (help_first ? 1 : 0), line.end()));
  const Arguments arguments(line.begin() + 1, line.end());
  if (help_first || wants_help(arguments)) {
    std::cout << help_text(*command);
    return kDone;
  }
  if (const char* now = replacement_of(name, arguments)) return fail("this is now: " + std::string(now));
  Given given;
  const Verb* verb = nullptr;
  std::string error;
  if (parse(*command, arguments, &given, &verb, &error)) return run(*command, *verb, given);
  const std::string ours = command == &kProfileCommand ? ours_for(line) : "";
  return ours.empty() ? given.misuse(error) : fail("in hprof this is: " + ours);
}

}  // namespace hprof::tool
