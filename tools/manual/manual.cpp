// hprof_manual PLUGINS FOLDER: writes man pages and shell completion below FOLDER, from the options of the
// agent and of the plugins in PLUGINS, and from the commands of the agent and of bin/hprof.
//
// hprof_manual COMMAND: prints the usage and the options of a command of bin/hprof as Markdown, for
// docs/tool.md and docs/heap-dump.md.
//
// hprof_manual agent-commands | agent-items-change | agent-items-read: prints a list of agent_tables.cpp.
// hprof_manual agent-options | agent-help PLUGINS: prints the options as Markdown, or the text of
// -agentlib:hprof=help.
#include "tools/manual/manual.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

#include "core/modules/help_texts/help.h"
#include "core/option/configure.h"
#include "core/option/shipped.h"
#include "tools/hprof/command.h"

namespace hprof::manual {
namespace {

std::string text_of(Str text) { return std::string(text.data, text.size); }

void take(void* context, const OptionText& row) {
  const std::string name = text_of(row.name);
  const size_t equals = name.find('=');
  static_cast<std::vector<Option>*>(context)->push_back({name.substr(0, equals), name.substr(equals + 1),
                                                         text_of(row.preset), text_of(row.help),
                                                         text_of(row.owner)});
}

// Calls visit(modules) with all modules. False: a plugin was refused, so the pages would lack its options.
template <typename Visit>
bool with_modules(const std::string& plugins, Visit visit) {
  ModuleSearch search;
  search.loader = platform_library_loader();
  search.verify = &verify_module_for;
  know_core(&search);
  search.plugin_folders = Str(plugins.data(), plugins.size());
  bool refused = false;
  Messages messages;
  messages.say = [](void* seen, bool, const char* text) {
    *static_cast<bool*>(seen) = true;
    std::fprintf(stderr, "hprof_manual: %s\n", text);
  };
  messages.context = &refused;
  const auto modules = std::make_unique<ModuleSet>();
  modules->open(search, ModuleNames(), messages);
  modules->open_all();
  visit(*modules);
  return !refused;
}

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "hprof_manual: cannot write %s\n", path.c_str());
  return static_cast<bool>(file);
}

// Prints lines of code.
void print_code(const std::string& text) {
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    std::printf("%s%s\n", end == at ? "" : "    ", text.substr(at, end - at).c_str());
  }
}

bool print_markdown(const std::string& name) {
  const tool::Command* command = tool::command_named(name);
  if (command == nullptr) return false;
  std::string text = tool::usage_text(*command);
  std::vector<const tool::OptionRow*> rows = tool::own_options(*command);
  // Those with a title are another command's, too.
  if (command->common_title == nullptr)
    for (const tool::OptionRow& row : command->common) rows.push_back(&row);
  if (!rows.empty()) text += "\n";
  for (const tool::OptionRow* row : rows) text += tool::option_lines(*row);
  if (command->common_title != nullptr) {
    text += std::string("\n") + command->common_title;
    for (const tool::OptionRow& row : command->common) text += std::string(" ") + row.name;
    text += "\n";
  }
  print_code(text);
  return true;
}

}  // namespace

std::vector<std::string> fixed_values(const Option& option) {
  std::vector<std::string> words;
  size_t at = 0;
  while (at <= option.values.size()) {
    size_t end = option.values.find('|', at);
    if (end == std::string::npos) end = option.values.size();
    // The part after a word, such as `:<bytes>`, is optional.
    std::string word = option.values.substr(at, end - at);
    word = word.substr(0, word.find_first_of("<["));
    if (!word.empty() && word.find_first_of("-.") != 0) words.push_back(word);
    at = end + 1;
  }
  return words;
}

}  // namespace hprof::manual

int main(int count, char** arguments) {
  using namespace hprof::manual;
  if (count == 2 && (print_agent_table(arguments[1]) || print_markdown(arguments[1]))) return 0;
  if (count != 3) {
    std::fputs("hprof_manual PLUGINS FOLDER\nhprof_manual COMMAND | TABLE [PLUGINS]\n", stderr);
    return 2;
  }
  const std::string name = arguments[1];
  if (name == "agent-options" || name == "agent-help") {
    const auto print = [&](const hprof::ModuleSet& modules) {
      const hprof::TextOut out = {
          [](void*, hprof::Str text) { std::fwrite(text.data, 1, text.size, stdout); }, nullptr};
      name == "agent-help" ? hprof::print_help(modules, out) : hprof::print_option_table(modules, out);
    };
    return with_modules(arguments[2], print) ? 0 : 1;
  }
  std::vector<Option> options;
  if (!with_modules(name, [&](const hprof::ModuleSet& modules) { each_option(modules, take, &options); }))
    return 1;
  const std::string folder = arguments[2];
  const std::string version = HPROF_MANUAL_VERSION;
  const bool written = write(folder + "/man/man1/hprof.1", tool_page(version)) &&
                       write(folder + "/man/man7/hprof-agent.7", agent_page(version, options)) &&
                       write(folder + "/bash-completion/completions/hprof", bash_completion(options)) &&
                       write(folder + "/zsh/site-functions/_hprof", zsh_completion(options));
  return written ? 0 : 1;
}
