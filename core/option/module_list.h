// What -agentlib:hprof=help=plugins prints: the modules that are found, where, and their units.
#pragma once

#include "core/option/help.h"

namespace hprof {

// The set holds all modules (open_all). Modules that are refused have been named by a message. [onload]
void print_modules(const ModuleSet& modules, const TextOut& out);

}  // namespace hprof
