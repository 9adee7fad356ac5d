// Parse, open, choose, bind.
#include "core/option/configure.h"

namespace hprof {

Configured configure(Str options, Str environment, const ModuleSearch& search, const Messages& messages,
                     Configuration* configuration, Error* error) {
  Configuration& made = *configuration;
  made.search = search;
  made.names.count = 0;
  if (!made.list.parse(options, environment, error)) return Configured::kFailed;
  const OptionItem* plugins = made.list.find("plugins");
  if (plugins != nullptr) made.search.plugin_folders = plugins->value;
  if (made.list.help()) {
    made.modules.open(made.search, made.names, messages);
    made.modules.open_all();
    return Configured::kHelp;
  }
  if (!select_modules(made.list, &made.names, error)) return Configured::kFailed;
  made.modules.open(made.search, made.names, messages);
  // An option may belong to a unit that does not run: interval= with heap=sites.
  if (first_unknown_option(made.list, made.modules) != nullptr) {
    made.modules.open_all();
    const OptionItem* unknown = first_unknown_option(made.list, made.modules);
    if (unknown != nullptr) {
      unknown_option_error(made.list, made.modules, *unknown, error);
      return Configured::kFailed;
    }
  }
  // Before the units: a bad value is the user's to mend, whatever modules this build has.
  if (!bind_core(made.list, &made.core, messages, error)) return Configured::kFailed;
  if (!choose_units(made.list, made.names, &made.modules, &made.selection, error)) return Configured::kFailed;
  if (!bind_units(made.list, &made.modules, messages, error)) return Configured::kFailed;
  return Configured::kRun;
}

}  // namespace hprof
