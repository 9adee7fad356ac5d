// The page of hprof heap: what keeps memory alive, above the dominator tree as a flame graph.
#pragma once

#include <iosfwd>
#include <string>

#include "tools/heap/output/document.h"

namespace hprof::tool {

// Writes one self-contained HTML file; a document without a dominator tree as tables alone.
void write_heap_page(const Document& document, const std::string& title, std::ostream& out);

}  // namespace hprof::tool
