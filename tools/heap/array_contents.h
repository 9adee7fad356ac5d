// The contents of arrays: repeated strings, arrays of zeros, search for a text.
#pragma once

#include <string>

#include "tools/heap/document.h"
#include "tools/heap/snapshot.h"

namespace hprof::tool {

// Both need a snapshot that was read with options.strings, and read the dump once more. Strings by the text
// of their arrays, and arrays of zeros by class.
Section content_section(const Snapshot& snapshot, MemoryBudget& budget, size_t top);

// The strings with `text` (UTF-8) in them.
Section find_section(const Snapshot& snapshot, const std::string& text, size_t top);

}  // namespace hprof::tool
