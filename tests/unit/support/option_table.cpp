// Prints the option rows of the core and of the plugins in the given folders as Markdown: the table of the
// README. With `--help` first, the text of -agentlib:hprof=help. Exit code 1: a plugin was refused.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "core/modules/help/help.h"
#include "core/option/configure.h"
#include "core/option/shipped.h"

using namespace hprof;

int main(int count, char** arguments) {
  const bool help = count > 1 && strcmp(arguments[1], "--help") == 0;
  ModuleSearch search;
  search.loader = platform_library_loader();
  know_core(&search);
  std::string folders;
  for (int i = help ? 2 : 1; i < count; ++i)
    folders += std::string(arguments[i]) + search.loader.list_separator;
  search.plugin_folders = Str(folders.data(), folders.size());

  bool refused = false;
  Messages messages;
  messages.say = [](void* seen, bool, const char* text) {
    *static_cast<bool*>(seen) = true;
    fprintf(stderr, "hprof_option_table: %s\n", text);
  };
  messages.context = &refused;
  const auto modules = std::make_unique<ModuleSet>();
  modules->open(search, ModuleNames(), messages);
  modules->open_all();
  const TextOut out = {[](void*, Str text) { fwrite(text.data, 1, text.size, stdout); }, nullptr};
  if (help) {
    print_help(*modules, out);
  } else {
    print_option_table(*modules, out);
  }
  return refused ? 1 : 0;
}
