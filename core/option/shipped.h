// The shipped modules by the options that select them: only the named ones are opened, so this must be known
// before their descriptors can be read. CMake makes the table of the same texts (hprof_add_units).
#pragma once

#include "core/option/option_list.h"
#include "core/plugin/module_set.h"

namespace hprof {

// Prefixes of the names of modules that are no collectors. format=<name>: module and unit encoder_<name>.
constexpr Str kEncoderPrefix = "encoder_";
constexpr Str kFilterPrefix = "filter_";
constexpr Str kSinkPrefix = "sink_";

// Names the modules to open. If an option is still unknown when these are open, it may be a vendor's, and the
// others are opened, too (all_answered). False: an invalid name. [onload]
bool select_modules(const OptionList& list, ModuleNames* names, Error* error);

// Adds the modules of the default profile. [onload]
bool add_default_profile(const OptionList& list, ModuleNames* names, Error* error);

// True: the option selects shipped modules. [any]
bool selects_shipped(Str name);
// True: this value selects one of them.
bool names_shipped(Str name, Str value);

// The module of that row, which other rows may have, too; empty: there are fewer rows. [any]
Str shipped_module(uint32_t index);
// Gives a search their names, and the core's options. [any]
void know_core(ModuleSearch* search);

// ModuleSearch::verify of the agent: the records of all modules, and by the module help_texts the units of
// those that are not shipped, and of all others beside them.
bool verify_foreign(const ModuleSet& modules, const hprof_module& module, Str name, TextWriter* reason);

// A row: option, pattern of values (empty: any) and module. A module may have several.
struct Shipped {
  Str name;
  Str value;
  Str module;

  // True: the row is for this option and value.
  bool serves(Str option, Str typed) const;
};
// All rows as text, `name=value module` each; the values of an option are in the original's order.
Str shipped_rows();
// Moves the next row from *rest to *row. False: nothing is left. [any]
bool next_shipped(Str* rest, Shipped* row);

}  // namespace hprof
