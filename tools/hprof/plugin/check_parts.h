// The steps of `hprof plugin check --run`, by the kind of unit.
#pragma once

#include "tools/hprof/plugin/checked_host.h"

namespace hprof::tool {

// What only units of that kind do.
std::vector<CheckStep> collector_steps();
std::vector<CheckStep> encoder_steps();
std::vector<CheckStep> filter_steps();
std::vector<CheckStep> sink_steps();

// Calls each function of the unit, from create to destroy, with options.
void use_collector(CheckedHost& host, const hprof_unit& unit, const Options& options);
void use_encoder(CheckedHost& host, const hprof_unit& unit, const Options& options);
void use_filter(CheckedHost& host, const hprof_unit& unit, const Options& options);
void use_sink(CheckedHost& host, const hprof_unit& unit, const Options& options);

// Checks the users of probes that the unit has made in create, and the classes that they bring.
void check_targets(CheckedHost& host);

}  // namespace hprof::tool
