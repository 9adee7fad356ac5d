// The steps of `hprof plugin check --run`, by the kind of unit.
#pragma once

#include "tools/hprof/plugin/check_steps.h"

namespace hprof::tool {

std::vector<CheckStep> collector_steps();
std::vector<CheckStep> encoder_steps();
std::vector<CheckStep> filter_steps();
std::vector<CheckStep> sink_steps();

}  // namespace hprof::tool
