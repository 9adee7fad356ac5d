// Calls whose objects no other probe of allocations reports, and methods that get no probes because their
// callers report the objects. Facts: HotSpot of JDK 8 to 27, natives and intrinsics that make objects.
#pragma once

#include "core/modules/bytecode/engine/probe_set.h"

namespace hprof {

extern const CallHook kAllocatingCalls[];
extern const uint32_t kAllocatingCallCount;
extern const MethodPattern kQuietBodies[];
extern const uint32_t kQuietBodyCount;

// Adds these tables to `probes`, for users of kProbesOfSites.
void add_allocation_probes(ProbeSet* probes);

}  // namespace hprof
