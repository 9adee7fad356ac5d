// The subcommands of bin/hprof.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hprof::tool {

// What the shell sees.
enum ExitStatus { kDone = 0, kFoundProblems = 1, kFailed = 2 };

using Arguments = std::vector<std::string>;

// Each takes what follows its name and returns an ExitStatus.
int check_command(const Arguments& arguments);
int print_command(const Arguments& arguments);
int listen_command(const Arguments& arguments);
int run_command(const Arguments& arguments);
int attach_command(const Arguments& arguments);
int ctl_command(const Arguments& arguments);

// "hprof: <text>" on stderr; returns kFailed.
int fail(const std::string& text);
// As fail(), with a hint at the help page of `command`.
int misuse(const char* command, const std::string& text);

// `--name=value`: true and the value in *value when the argument is that option.
bool option_value(const std::string& argument, const char* name, std::string* value);
// Decimal digits only. False when it is no number or more than `most`.
bool parse_number(const std::string& text, uint64_t most, uint64_t* number);

// The help text of a subcommand; null for a name that is none. "" is the overview.
const char* help_text(const std::string& command);

}  // namespace hprof::tool
