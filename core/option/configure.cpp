// Parses, opens, chooses, binds.
#include "core/option/configure.h"

#include "core/option/help_table.h"
#include "core/option/shipped.h"

namespace hprof {
namespace {

// False: a known option without a value. Unknown ones were reported before.
bool have_values(const OptionList& list, Error* error) {
  for (uint32_t i = 0; i < list.count(); ++i) {
    if (list[i].has_value || list[i].replaced) continue;
    char text[160];
    TextWriter what(text, sizeof(text));
    what.put("general syntax error parsing options: ").put_printable(list[i].name, 60).put(" has no value");
    return option_error(list, what.text(), error);
  }
  return true;
}

void refuse_unknown(Configuration* made, const OptionItem& unknown, Error* error) {
  if (const HelpTable* help = open_help(&made->modules)) {
    help->unknown_option_error(made->list, made->modules, unknown, error);
    return;
  }
  char text[100];
  TextWriter what(text, sizeof(text));
  option_error(made->list, what.put("Unknown option: ").put_printable(unknown.name, 60).text(), error);
}

// False: a folder of plugins= is none, which would look like a plugin that lacks an option.
bool have_folders(const OptionList& list, const ModuleSearch& search, Error* error) {
  char path[kPathMost], text[200];
  if (!kHasModules || !search.find_absent_folder(path)) return true;
  TextWriter what(text, sizeof(text));
  return option_error(list, what.put("plugins: there is no folder ").put_printable(path, 160).text(), error);
}

// Splits the options and opens the modules that they name.
bool split_and_open(Str options, Str environment, const ModuleSearch& search, const Messages& messages,
                    Configuration* made, Error* error) {
  if (!made->list.parse(options, environment, error)) return false;
  made->search = search;
  know_core(&made->search);
  const OptionItem* plugins = made->list.find("plugins");
  if (plugins != nullptr) made->search.plugin_folders = plugins->value;
  if (!have_folders(made->list, made->search, error)) return false;
  made->names.count = 0;
  if (made->list.help() == Help::kNone && !select_modules(made->list, &made->names, error)) return false;
  made->modules.open(made->search, made->names, messages);
  return true;
}

}  // namespace

Configured configure(Str options, Str environment, const ModuleSearch& search, const Messages& messages,
                     Configuration* configuration, Error* error) {
  Configuration& made = *configuration;
  if (!split_and_open(options, environment, search, messages, &made, error)) return Configured::kFailed;
  if (made.list.help() != Help::kNone) {
    made.modules.open_all();
    return Configured::kHelp;
  }
  // A unit that does not run, or one of a vendor, may have the option.
  if (!all_answered(made.list, made.modules)) {
    made.modules.open_all();
    const OptionItem* unknown = first_unknown_option(made.list, made.modules);
    if (unknown != nullptr) {
      refuse_unknown(&made, *unknown, error);
      return Configured::kFailed;
    }
  }
  if (!have_values(made.list, error)) return Configured::kFailed;
  // Before the units, so that a bad value is reported whatever modules this build has.
  if (!bind_core(made.list, &made.core, messages, error)) return Configured::kFailed;
  if (!choose_units(made.list, made.core, &made.names, &made.modules, &made.selection, error))
    return Configured::kFailed;
  if (!bind_units(made.list, &made.modules, messages, error)) return Configured::kFailed;
  return Configured::kRun;
}

}  // namespace hprof
