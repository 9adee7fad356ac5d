// From the options as typed to the modules to open, and from the opened modules to the units that run.
//
// Only modules that the options ask for are opened, so the names of the shipped ones are known here by the
// option that selects them (kShipped). What a module's units really are selected by comes from their `select`
// texts, once opened. A vendor's module is opened by plugin=<name>, which also selects its unit of that name,
// or all of its collectors when it has no unit of that name.
#pragma once

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
  uint64_t needs = 0;            // HPROF_NEED_* of all units that run
  uint64_t wants = 0;
  uint64_t events = 0;
};

// Names of the modules to open. Without heap, cpu, monitor and plugin the original's heap=all is meant.
// False: an option names a module that cannot be one. [onload]
bool select_modules(const OptionList& list, ModuleNames* names, Error* error);

// Which units of the opened modules run; marks them in the set. False: something that was asked for is not
// there, or the encoder cannot write what a collector emits. [onload]
bool choose_units(const OptionList& list, const ModuleNames& names, ModuleSet* modules, Selection* selection,
                  Error* error);

// Does "a=x|b=y|c" select for option `name` with `value`? "c" alone takes any value. `select` may be nullptr.
// [any]
bool select_matches(const char* select, Str name, Str value);
// Does it have any alternative for option `name`?
bool select_has_name(const char* select, Str name);

// The values of a selector that the opened modules offer: "dump|sites|all|off". Empty: not a selector. [any]
void put_selector_values(const ModuleSet& modules, Str name, TextWriter* out);

// Does the option choose among shipped modules? [any]
bool selects_shipped(Str name);

// Names of the shipped modules, nullptr after the last. [any]
const char* shipped_module(uint32_t index);

}  // namespace hprof
