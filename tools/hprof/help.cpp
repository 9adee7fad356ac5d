// Help texts, generated from the rows of the commands.
#include <algorithm>
#include <set>

#include "core/protocol/command_table.h"
#include "tools/hprof/command.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr size_t kSummaryColumn = 37;
constexpr size_t kVerbColumn = 48;
constexpr size_t kOptionColumn = 24;
constexpr size_t kCommandColumn = 46;
constexpr size_t kWidth = 110;

std::string padded(std::string text, size_t column) {
  text.resize(std::max(text.size() + 1, column), ' ');
  return text;
}

// The agent's commands, or those that a stream takes, one a line.
std::string agent_commands(bool stream) {
  std::string text;
  for (const CommandRow& row : kCommands) {
    if (stream && row.tag == kTagNone) continue;
    text += padded("  " + usage_of(row), kCommandColumn) + row.help + "\n";
  }
  return text;
}

// The usage of one verb, in lines of bounded width.
std::string usage_of(const Command& command, const Verb& verb) {
  const std::string start = std::string("hprof ") + command.name;
  std::string text = start;
  size_t line = 0;  // where the last line begins
  const auto add = [&](const std::string& word) {
    if (text.size() - line + 1 + word.size() > kWidth) {
      line = text.size() + 1;
      text += "\n" + std::string(start.size(), ' ');
    }
    text += " " + word;
  };
  const bool optional = command.first_is_default && &verb == command.verbs.first && *verb.name != '\0';
  if (*verb.name != '\0') add(optional ? "[" + std::string(verb.name) + "]" : verb.name);
  const auto add_options = [&](const Rows<OptionRow>& rows) {
    for (const OptionRow& row : rows) add(row.needed ? option_text(row) : "[" + option_text(row) + "]");
  };
  add_options(verb.options);
  if (command.verbs.count == 1 && command.common_title == nullptr) add_options(command.common);
  if (*verb.words != '\0') add(verb.words);
  return *verb.summary == '\0' ? text : padded(text, kVerbColumn) + verb.summary;
}

}  // namespace

std::string filled_in(const char* row) {
  std::string text = replaced(row, "@AGENT@", os::kAgentName);
  text = replaced(text, "@COMMANDS@\n", agent_commands(false));
  return replaced(text, "@STREAM@\n", agent_commands(true));
}

std::string usage_of(const CommandRow& row) {
  char text[100];
  TextWriter out(text, sizeof text);
  put_usage(row, &out);
  return text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string option_text(const OptionRow& option) {
  std::string text = option.name;
  if (option.value != nullptr) text.append(text.compare(0, 2, "--") == 0 ? "=" : " ").append(option.value);
  return text;
}

std::string option_lines(const OptionRow& option) {
  std::string help = filled_in(option.help);
  for (size_t at = help.find('\n'); at != std::string::npos; at = help.find('\n', at + 1))
    help.insert(at + 1, std::string(kOptionColumn, ' '));
  return padded("  " + option_text(option), kOptionColumn) + help + "\n";
}

std::vector<const OptionRow*> own_options(const Command& command) {
  std::vector<const OptionRow*> options;
  std::set<std::string> names;
  for (const Verb& verb : command.verbs)
    for (const OptionRow& row : verb.options)
      if (names.insert(row.name).second) options.push_back(&row);
  return options;
}

std::string usage_text(const Command& command) {
  std::string text;
  for (const Verb& verb : command.verbs) text += usage_of(command, verb) + "\n";
  return text;
}

std::string help_text(const Command& command) {
  std::string text = usage_text(command) + "\n" + filled_in(command.text);
  const std::vector<const OptionRow*> own = own_options(command);
  if (!own.empty()) text += "\n";
  for (const OptionRow* row : own) text += option_lines(*row);
  if (command.common.count != 0 && (own.empty() || command.common_title != nullptr)) text += "\n";
  if (command.common_title != nullptr) text += std::string(command.common_title) + "\n";
  for (const OptionRow& row : command.common) text += option_lines(row);
  if (*command.more != '\0') text += "\n" + filled_in(command.more);
  return text;
}

std::string overview_line(const Command& command) {
  return padded(std::string("hprof ") + command.name + " " + command.words, kSummaryColumn) + command.summary;
}

std::string overview_text() {
  std::string text = "hprof: heap and CPU profiling of Java programs\n\n";
  for (const Command* command : kCommandRows) text += "  " + overview_line(*command) + "\n";
  return text +
         "\n  hprof COMMAND --help                 the page of a command\n"
         "  hprof --version\n\n"
         "Exit status: 0 done, 1 problems found or refused by the agent, 2 wrong usage or failed.\n";
}

}  // namespace hprof::tool
