// Memory that holds nothing, or the same again: unused room of collections, equal arrays and boxed numbers.
#pragma once

#include "tools/heap/output/document.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

// Of reachable objects. The snapshot has its dominator tree, and was read with options.strings.
Section waste_section(const Snapshot& snapshot, MemoryBudget& budget, size_t top);

}  // namespace hprof::tool
