// The error message for an unknown option.
#pragma once

#include "core/option/option_list.h"
#include "core/plugin/module_set.h"

namespace hprof {

// Sets "Unknown option: dept (dept=8); did you mean depth?", or lists all names if none is similar. The set
// holds all modules (open_all). Returns false. [onload]
bool unknown_option_error(const OptionList& list, const ModuleSet& modules, const OptionItem& item,
                          Error* error);

}  // namespace hprof
