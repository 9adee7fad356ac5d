// What -agentlib:hprof=help=plugins and help=units print: the modules that are found, where, and their units.
#pragma once

#include "core/option/help_table.h"

namespace hprof {

// The set holds all modules (open_all). Modules that are refused have been named by a message. [onload]
// need_name: of a bit of HPROF_NEED_*; with it each unit's needs, records and options are printed, too, and
// files that are hidden by an earlier folder. nullptr: without these.
void print_modules(const ModuleSet& modules, NeedName need_name, const TextOut& out);

}  // namespace hprof
