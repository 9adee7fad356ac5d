// What the probes of cpu=times call: java.lang.HprofCalls, and the functions of its native methods.
#pragma once

#include <hprof/service/probes.h>

namespace hprof::times {

constexpr const char* kTargetClass = "java/lang/HprofCalls";

class Collector;

// Fills in classes and targets. clocked: the clock is read at calls. collector: what the native methods use
// from now on. [onload]
void fill_in_targets(Collector* collector, bool clocked, hprof_probe_user* user);

}  // namespace hprof::times
