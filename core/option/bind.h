// Binds the options to config structs: the core's and those of the units that run.
#pragma once

#include "core/option/core_options.h"
#include "core/option/option_list.h"
#include "core/option/selection.h"

namespace hprof {

// The first option that neither the core nor an opened unit knows, by a row or by its select text; nullptr:
// none. It may belong to a unit that does not run: open_all() the modules and call this again. [onload]
const OptionItem* first_unknown_option(const OptionList& list, const ModuleSet& modules);

// Defaults and values of the core's own options into *core. TEXT values point into the list. [onload]
bool bind_core(const OptionList& list, CoreConfig* core, const Messages& messages, Error* error);

// Defaults and values into a config struct for each unit that runs (Unit::config, in the set's memory);
// values of options whose units do not run are checked only, with a detail message that they have no effect.
// A unit's row that has the name of a core option gets the same value. TEXT values point into the list.
// [onload]
bool bind_units(const OptionList& list, ModuleSet* modules, const Messages& messages, Error* error);

// Both. [onload]
bool bind_all(const OptionList& list, ModuleSet* modules, CoreConfig* core, const Messages& messages,
              Error* error);

}  // namespace hprof
