// The shipped modules by the options that select them, so that only the named ones are opened.
#pragma once

#include "core/option/option_list.h"
#include "core/plugin/module_set.h"

namespace hprof {

// Module and unit of format=json: encoder_json.
constexpr Str kEncoderPrefix = "encoder_";

// Names the modules to open. If an option is still unknown when these are open, it may be a vendor's, and the
// others are opened, too (all_answered). False: an invalid name. [onload]
bool select_modules(const OptionList& list, ModuleNames* names, Error* error);

// Adds the modules of heap=all, the default. [onload]
bool add_default_profile(const OptionList& list, ModuleNames* names, Error* error);

// True: the option selects shipped modules. [any]
bool selects_shipped(Str name);
// True: this value selects one of them.
bool names_shipped(Str name, Str value);

// Names of the shipped modules; nullptr after the last. [any]
const char* shipped_module(uint32_t index);
// Gives a search their names, and the core's options. [any]
void know_core(ModuleSearch* search);

// A row: option, value (nullptr: any) and module.
struct Shipped {
  const char* name;
  const char* value;
  const char* module;
};
// True: the row is for this option and value. [any]
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
