#pragma once

#include <cstdint>

namespace hprof {

class HotSpot;

// The address of the VM's own count of unloaded classes; nullptr: not known. It goes up before the memory of
// an unloaded class, its methods or its number can be reused, whatever the collector; the event comes later.
// It is the lower half of java.cls.unloadedClasses of the VM's performance data (jstat -class). The VM is
// live. [control]
const uint32_t* unload_count(HotSpot& home);

}  // namespace hprof
