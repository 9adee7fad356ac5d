// The VM's own count of its garbage collections.
#pragma once

#include <cstdint>

namespace hprof {

class HotSpot;

// Its address; nullptr: not known, or a collector that works beside the program, too, and counts that. It
// goes up while the VM is stopped for a collection (CollectedHeap::_total_collections). The VM is live.
// [control]
const uint32_t* collection_count(HotSpot& home);

}  // namespace hprof
