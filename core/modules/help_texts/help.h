// Renders the option rows: the help text, and the table of the README.
#pragma once

#include "core/option/help_table.h"

namespace hprof {

// Prints the text of -agentlib:hprof=help, laid out like the original's. The set holds all modules
// (open_all). [onload]
void print_help(const ModuleSet& modules, const TextOut& out);

// One option: `name=values`, default (empty: none), meaning, and the unit's id, or "core".
struct OptionText {
  Str name;
  Str preset;
  Str help;
  Str owner;
};

// Calls visit for every row, the core's first; the texts are valid during the call. [any]
void each_option(const ModuleSet& modules, void (*visit)(void* context, const OptionText& option),
                 void* context);

// The same rows as Markdown. [any]
void print_option_table(const ModuleSet& modules, const TextOut& out);

}  // namespace hprof
