// The subcommands of bin/hprof.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hprof::tool {

// Exit codes.
enum ExitStatus { kDone = 0, kFoundProblems = 1, kFailed = 2 };

using Arguments = std::vector<std::string>;

// Each takes what follows its name and returns an ExitStatus.
int check_command(const Arguments& arguments);
int print_command(const Arguments& arguments);
int listen_command(const Arguments& arguments);
int run_command(const Arguments& arguments);
int attach_command(const Arguments& arguments);
int profile_command(const Arguments& arguments);
int ctl_command(const Arguments& arguments);
int doctor_command(const Arguments& arguments);
int view_command(const Arguments& arguments);
int convert_command(const Arguments& arguments);
int diff_command(const Arguments& arguments);
int heap_command(const Arguments& arguments);
const char* heap_help();
int plugin_command(const Arguments& arguments);

// "hprof: <text>" on stderr; returns kFailed.
int fail(const std::string& text);
// As fail(), with a hint at the help page of `command`.
int misuse(const char* command, const std::string& text);

// `--name=value`: true and the value in *value when the argument is that option.
bool option_value(const std::string& argument, const char* name, std::string* value);
// Decimal digits only. False: it is not a number, or more than `most`.
bool parse_number(const std::string& text, uint64_t most, uint64_t* number);
// Bytes: a number, perhaps with one of k, m and g behind it.
bool parse_size(const std::string& text, uint64_t* bytes);

// The table of the subcommands is in help.cpp, with their pages.
struct ToolCommand {
  const char* name;
  int (*run)(const Arguments& arguments);
  const char* summary;  // what it does, as in "start a program with the agent"
};
// nullptr: there is none of that name.
const ToolCommand* find_tool_command(const std::string& name);
// All of them, in the order of the overview.
std::vector<ToolCommand> tool_commands();
// "run, attach, ...": for messages.
std::string tool_command_names();
// The help page of a subcommand; "" for an unknown name. The page of "" is the overview.
std::string help_text(const std::string& command);

}  // namespace hprof::tool
