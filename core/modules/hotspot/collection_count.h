#pragma once

#include <cstdint>

namespace hprof {

class HotSpot;

// The address of the VM's count of its collections (CollectedHeap::_total_collections), which goes up in the
// pause. nullptr: not known, or a collector that also counts concurrent cycles. The VM is live. [control]
const uint32_t* collection_count(HotSpot& home);

}  // namespace hprof
