// From the options to the units that run.
//
// An option selects a unit of any kind, in any module, by the unit's `select` text; plugin= selects by id,
// format= by both. Units of the modules that the options name (shipped.h) go first; other modules are opened
// only if those do not know an option.
#pragma once

#include "core/option/core_options.h"
#include "core/option/option_list.h"
#include "core/plugin/module_set.h"

namespace hprof {

// The units of a session, as indices into the ModuleSet.
struct Selection {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t collectors[kUnitsMost];
  uint32_t collector_count = 0;
  uint32_t encoder = kNone;
  uint32_t sink = kNone;
  uint32_t filter = kNone;
};

// True: every option is a row or a selector of the opened units. If not, call open_all() before
// first_unknown_option() and choose_units(). [onload]
bool all_answered(const OptionList& list, const ModuleSet& modules);

// Chooses the units that run, and marks them in the set. The modules of the default profile are opened here
// if need be. False: an option selects an unavailable unit, nothing is selected and no command can come, or
// the encoder cannot write what a collector emits. [onload]
bool choose_units(const OptionList& list, const CoreConfig& core, ModuleNames* names, ModuleSet* modules,
                  Selection* selection, Error* error);

// True: the encoder takes all that the collector emits; notes and what is optional may be left out. [any]
bool takes_all_of(const hprof_unit& encoder, const hprof_unit& collector);

}  // namespace hprof
