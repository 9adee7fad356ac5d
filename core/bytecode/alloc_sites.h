// Calls that allocate objects which no other probe of heap=sites sees, and methods that get no probes because
// of them. Facts: HotSpot of JDK 8 to 27, natives and intrinsics that make objects.
#pragma once

#include "core/bytecode/probe_set.h"

namespace hprof {

extern const CallHook kAllocatingCalls[];
extern const uint32_t kAllocatingCallCount;
extern const MethodPattern kQuietBodies[];
extern const uint32_t kQuietBodyCount;

// kProbesOfSites and these tables, into `probes`.
void add_allocation_probes(ProbeSet* probes);

}  // namespace hprof
