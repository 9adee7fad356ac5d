// Renders the option rows: the help text, and the table of the README.
#pragma once

#include "core/option/help_table.h"

namespace hprof {

// What `-agentlib:hprof=help` prints, laid out like the original's. The set holds all modules (open_all).
// [onload]
void print_help(const ModuleSet& modules, const TextOut& out);

// One option as people read it: `name=values`, default, meaning, and the unit's id, or "core". An empty
// default: none.
struct OptionText {
  Str name;
  Str preset;
  Str help;
  Str owner;
};

// Every row, the core's first; the texts are valid during the call. [any]
void each_option(const ModuleSet& modules, void (*visit)(void* context, const OptionText& option),
                 void* context);

// The same rows as Markdown. [any]
void print_option_table(const ModuleSet& modules, const TextOut& out);

}  // namespace hprof
