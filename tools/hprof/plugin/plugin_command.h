// The parts of `hprof plugin`.
#pragma once

#include "tools/hprof/command.h"

namespace hprof::tool {

// Each returns an ExitStatus.
int plugin_list(const Given& given);
int plugin_new(const Given& given);
int plugin_check(const Given& given);

}  // namespace hprof::tool
