// The contents of arrays: repeated strings, arrays of zeros, search for a text.
#pragma once

#include <string>

#include "tools/heap/output/document.h"
#include "tools/heap/read/snapshot.h"

namespace hprof::tool {

// Repeated strings, and arrays of zeros by class, of what is reached. Both functions need a snapshot with a
// dominator tree that was read with options.strings, and read the dump again.
Section content_section(const Snapshot& snapshot, MemoryBudget& budget, size_t top);

// The strings that contain `text` (UTF-8).
Section find_section(const Snapshot& snapshot, const std::string& text, size_t top);

}  // namespace hprof::tool
