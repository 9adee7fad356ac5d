// The shipped modules by the options that select them: only the named ones are opened, so their names must be
// known before.
#pragma once

#include "core/option/option_list.h"
#include "core/plugin/module_set.h"

namespace hprof {

// format=json: module and unit encoder_json.
constexpr Str kEncoderPrefix = "encoder_";

// Names of the modules to open. Options of vendors' units are not known yet: if an option is still unknown
// when these are open, the others are opened, too (is_answered). False: an invalid name. [onload]
bool select_modules(const OptionList& list, ModuleNames* names, Error* error);

// The modules of heap=all, the default. [onload]
bool add_default_profile(const OptionList& list, ModuleNames* names, Error* error);

// Does the option choose among shipped modules? [any]
bool selects_shipped(Str name);
// Does it name one of them by this value?
bool names_shipped(Str name, Str value);

// Names of the shipped modules, nullptr after the last. [any]
const char* shipped_module(uint32_t index);
// Tells a search of them, and of the core's options. [any]
void know_core(ModuleSearch* search);

// One row of what is known: option, value (nullptr: any) and module.
struct Shipped {
  const char* name;
  const char* value;
  const char* module;
};
// Does the row stand for this option and value? [any]
bool serves(const Shipped& row, Str name, Str value);
// The rows; *count of them. [any]
const Shipped* shipped_rows(size_t* count);

// Calls visit(value) for the values of a selector, in the original's order.
template <class Visit>
void each_shipped_value(Str name, Visit visit) {
  size_t count = 0;
  const Shipped* rows = shipped_rows(&count);
  for (size_t i = 0; i < count; ++i) {
    if (name == rows[i].name && rows[i].value != nullptr) visit(Str(rows[i].value));
  }
}

}  // namespace hprof
