// What is in arrays: strings that are there more than once, arrays of nothing but zeros, texts to be found.
#pragma once

#include <string>

#include "tools/hprof/heap/document.h"
#include "tools/hprof/heap/snapshot.h"

namespace hprof::tool {

// Both need a snapshot that was read with options.strings; it is read once more.
// Strings by the text of their arrays, and arrays of zeros by class.
Section content_section(const Snapshot& snapshot, MemoryBudget& budget, size_t top);

// The strings with `text` (UTF-8) in them.
Section find_section(const Snapshot& snapshot, const std::string& text, size_t top);

}  // namespace hprof::tool
