// The VM's own count of its garbage collections.
#pragma once

#include <cstdint>

#include "core/hotspot/vm_structs.h"

namespace hprof {

// nullptr, and *count gets its address; else why not, static text. It goes up while the VM is stopped for a
// collection (CollectedHeap::_total_collections); a collector that works beside the program does more
// between. The VM is live. [control]
const char* find_collection_count(const VmStructs& structs, const uint32_t** count);

}  // namespace hprof
