// The VM's own count of the classes that it has unloaded.
#pragma once

#include <cstdint>

namespace hprof {

class HotSpot;

// Its address; nullptr: not known. It goes up before the memory of an
// unloaded class, of its methods and of its number can be used again, whatever collector and collection it
// was; the event for it comes later. It is the counter java.cls.unloadedClasses of the VM's performance data
// (jstat -class), the lower half of a jlong. The VM is live. [control]
const uint32_t* unload_count(HotSpot& home);

}  // namespace hprof
