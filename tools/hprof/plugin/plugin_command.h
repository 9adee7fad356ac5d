// The parts of `hprof plugin`.
#pragma once

#include "tools/hprof/command.h"

namespace hprof::tool {

// Each takes what follows its name and returns an ExitStatus.
int plugin_list(const Arguments& arguments);
int plugin_new(const Arguments& arguments);
int plugin_check(const Arguments& arguments);

}  // namespace hprof::tool
