// From the options as typed to the units that run.
//
// An option selects a unit of any kind, in any module, by the unit's `select` text; plugin= selects by id,
// format= does both. Units of the modules that the options name (shipped.h) go before those of others, which
// are opened only when an option has no answer among the first.
#pragma once

#include "core/option/core_options.h"
#include "core/option/option_list.h"
#include "core/plugin/module_set.h"

namespace hprof {

// The units of a session, as indices into the ModuleSet.
struct Selection {
  uint32_t collectors[kUnitsMost];
  uint32_t collector_count = 0;
  uint32_t encoder = 0;
  uint32_t sink = 0;
  uint32_t filter = UINT32_MAX;  // none
};

// Does every option have an answer among the opened units: a row, or a unit that it selects? If not,
// open_all() the modules before first_unknown_option() and choose_units(). [onload]
bool all_answered(const OptionList& list, const ModuleSet& modules);

// The name of the first option typed that takes all that follows on its line; empty: none. Opens the other
// modules if an option has no answer. [onload]
Str typed_tail(const OptionList& list, ModuleSet* modules);

// Which units of the opened modules run; marks them in the set. Without a choice the original's heap=all is
// meant, whose modules are opened here if need be. False: an option selects nothing that is there, nothing at
// all is selected though no command can come, or the encoder cannot write what a collector emits. [onload]
bool choose_units(const OptionList& list, const CoreConfig& core, ModuleNames* names, ModuleSet* modules,
                  Selection* selection, Error* error);

}  // namespace hprof
