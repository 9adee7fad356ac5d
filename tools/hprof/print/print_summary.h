// Summarises a binary file in tables.
#pragma once

#include <string>

#include "tools/format/input.h"
#include "tools/hprof/print/print_options.h"

namespace hprof::tool {

// Records by type; for each heap dump its size and roots; each sites and samples table. False with *error:
// truncated; what was read is printed.
bool print_summary(Input& in, const PrintOptions& options, std::ostream& out, std::string* error);

}  // namespace hprof::tool
