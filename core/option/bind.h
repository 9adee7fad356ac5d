// Stores the options in config structs: the core's, and those of the units that run.
#pragma once

#include "core/option/core_options.h"
#include "core/option/option_list.h"
#include "core/option/selection.h"

namespace hprof {

// The first option that is no row or select text of the core or an opened unit; nullptr: none. A unit of
// another module may have it: call open_all(), then this again. [onload]
const OptionItem* first_unknown_option(const OptionList& list, const ModuleSet& modules);

// Stores defaults and values of the core's options in *core. TEXT values point into the list. [onload]
bool bind_core(const OptionList& list, CoreConfig* core, const Messages& messages, Error* error);

// Stores defaults and values in a config struct for each running unit (Unit::config, in the set's memory).
// Values for units that do not run are only checked, with a detail message. A unit's row with the name of a
// core option gets the same value. TEXT values point into the list. [onload]
bool bind_units(const OptionList& list, ModuleSet* modules, const Messages& messages, Error* error);

}  // namespace hprof
