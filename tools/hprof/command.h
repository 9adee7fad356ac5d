// The commands of bin/hprof as rows: options, words and texts. Parser, help, man page, completion and the
// usage in docs/tool.md are generated from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace hprof {
struct CommandRow;
}

namespace hprof::tool {

// Exit codes.
enum ExitStatus { kDone = 0, kFoundProblems = 1, kFailed = 2, kTruncated = 3 };

using Arguments = std::vector<std::string>;

// A constant array of rows.
template <typename Row>
struct Rows {
  constexpr Rows() = default;
  template <size_t kCount>
  constexpr Rows(const Row (&rows)[kCount]) : first(rows), count(kCount) {}
  constexpr const Row* begin() const { return first; }
  constexpr const Row* end() const { return first + count; }

  const Row* first = nullptr;
  size_t count = 0;
};

enum class ValueKind : uint8_t {
  kText,
  kNumber,  // decimal, between the bounds of the row
  kSize,    // bytes, perhaps with one of k, m and g behind the number; more than 0
};

struct OptionRow {
  const char* name;   // "--top", "-o"
  const char* value;  // the value's name in the usage: "N"; nullptr: the option has none
  const char* help;   // one line or several
  ValueKind kind = ValueKind::kText;
  uint64_t least = 0, most = UINT64_MAX;  // of a number
  bool needed = false;
};

// An option of several commands.
constexpr OptionRow kAgentOption = {"--agent", "LIBRARY",
                                    "the agent; default ../lib/@AGENT@ beside this program"};
constexpr OptionRow kAsIsOption = {"--as-is", nullptr,
                                   "LIBRARY is a path in the file system of the process; never copied"};
constexpr OptionRow kListenTimeoutOption = {
    "--timeout",        "SECONDS", "how long to wait for the VM to listen, default 10",
    ValueKind::kNumber, 0,         86400};
constexpr OptionRow kTopOption = {
    "--top", "N", "rows of each table, default 20; 0 = all", ValueKind::kNumber, 0, UINT32_MAX};
constexpr uint64_t kTopRows = 20;
constexpr OptionRow kJsonOption = {"--json", nullptr, "print JSON, as docs/answers.schema.json describes it"};

struct Command;
struct Verb;

// The checked options and the words after a command's name.
class Given {
 public:
  bool has(const char* option) const { return find(option) != nullptr; }
  // The last value of an option.
  std::string text(const char* option, const char* otherwise = "") const;
  uint64_t number(const char* option, uint64_t otherwise) const;
  // All values of an option that may be repeated.
  std::vector<std::string> all(const char* option) const;
  // Prints "hprof <command>: <text>" and a hint at the help page on stderr; returns kFailed.
  int misuse(const std::string& text) const;

  Arguments words;
  Arguments rest;    // behind "--"
  size_t split = 0;  // how many words were before "--", where the verb has [--]

 private:
  friend struct Parser;
  friend bool parse(const Command& command, Arguments arguments, Given* given, const Verb** verb,
                    std::string* error);
  const std::string* find(const char* option) const;

  const Command* command_ = nullptr;
  std::vector<std::pair<const OptionRow*, std::string>> options_;
};

// A command, or one of several with the same first word: `hprof heap leaks`.
struct Verb {
  const char* name;     // "leaks"; "": there is only this one
  const char* words;    // "FILE CLASS|ID"; [WORD]: may be left out, WORD...: one or more; [--] parts them
  const char* summary;  // behind its usage; "": nothing
  int (*run)(const Given& given);
  Rows<OptionRow> options;  // of this verb only
};

struct Command {
  const char* name;
  const char* words;    // in the overview
  const char* summary;  // the same
  Rows<Verb> verbs;
  const char* text;                    // what it does
  const char* more;                    // examples and exit codes
  Rows<OptionRow> common = {};         // of all verbs; not repeated in the usage of each
  const char* common_title = nullptr;  // a heading for these; nullptr: none
  bool first_is_default = false;       // the name of the first verb may be left out
  bool reads_files = false;            // whole files into memory, whatever their lengths and counts say
};

extern const Command kRunCommand, kProfileCommand, kAttachCommand, kCtlCommand, kListenCommand, kCheckCommand,
    kPrintCommand, kDiffCommand, kPluginCommand, kViewCommand, kConvertCommand, kDoctorCommand, kHeapCommand,
    kThreadsCommand;

// All commands, in the order of the overview.
extern const Rows<const Command*> kCommandRows;
// nullptr: there is no such command.
const Command* command_named(const std::string& name);

// Finds the verb, and parses its options and words, after the command's name. False with *error.
bool parse(const Command& command, Arguments arguments, Given* given, const Verb** verb, std::string* error);
// Runs a command line (without the program's name) in this process. Returns an ExitStatus.
int run_command_line(const Arguments& line);

// The files of `words`, those of a folder in the order of their numbers.
Arguments files_of(const Arguments& words);

// Prints "hprof: <text>" on stderr; returns kFailed.
int fail(const std::string& text);
// The same about files to be read; returns kFailed if one cannot be opened, else kFoundProblems.
int unreadable(const Arguments& files, const std::string& text);
// What to say of the exception that ended a command. bound: the most memory that it might take, 0 = any.
std::string failure_text(const std::exception& problem, uint64_t bound);

// Parses decimal digits. False: not a number, or more than `most`.
bool parse_number(const std::string& text, uint64_t most, uint64_t* number);
// Takes the process id out of `PID [OPTION=VALUE...]`, wherever it stands. False: none of the words is one.
bool take_process(Arguments* words, int* pid);
// "; did you mean leaks?" if a name is similar to the word, else "".
std::string guess(const std::string& word, const std::vector<std::string>& names);

// Help texts, generated from the rows: the overview, and the page of a command.
std::string overview_text();
// "hprof check FILE...     find errors in a profile or dump"
std::string overview_line(const Command& command);
std::string help_text(const Command& command);
// "hprof check [--top=N] FILE...", one or more lines for each verb.
std::string usage_text(const Command& command);
// "--top=N", "-o FILE"
std::string option_text(const OptionRow& option);
// The line or lines of an option in a help page.
std::string option_lines(const OptionRow& option);
// The options of the verbs, each once.
std::vector<const OptionRow*> own_options(const Command& command);
// A row's text, with the agent's name and commands filled in.
std::string filled_in(const char* row);
// "dump [file=PATH]": the usage of a command of a running agent.
std::string usage_of(const CommandRow& row);
// The text with each `from` replaced.
std::string replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace hprof::tool
