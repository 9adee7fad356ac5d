// Prints the text of help=plugins and help=units: the modules found, where, and their units.
#pragma once

#include "core/option/help_table.h"

namespace hprof {

// The set holds all modules (open_all). Messages have named the modules refused. need_name: names a bit of
// HPROF_NEED_*, to print each unit's needs, records and options, and files hidden by an earlier folder;
// nullptr: without these. [onload]
void print_modules(const ModuleSet& modules, NeedName need_name, const TextOut& out);

}  // namespace hprof
