// Summarises a binary file in tables.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "tools/format/input.h"

namespace hprof::tool {

struct SummaryOptions {
  uint64_t top = 20;     // rows of each table, 0 = all
  bool traces = false;   // the stack of each row
  bool threads = false;  // a table of threads
};

// Records by type; for each heap dump its size and roots; each sites and samples table. False with *error:
// truncated; what was read is printed.
bool print_summary(Input& in, const SummaryOptions& options, std::ostream& out, std::string* error);

}  // namespace hprof::tool
