// Why the options choose no units that can run: the errors, with what could be typed instead.
#pragma once

#include "core/option/help_table.h"

namespace hprof {

// See HelpTable::explain. [onload]
void explain_refusal(const Refusal& refusal, const OptionList& list, ModuleSet& modules, Error* error);

}  // namespace hprof
