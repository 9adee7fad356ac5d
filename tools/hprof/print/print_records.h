// A binary file record by record.
#pragma once

#include <iosfwd>
#include <string>

#include "tools/format/input.h"

namespace hprof::tool {

// One line per record and heap sub-record, in the order of the file, with names where the file gave them
// before. False with *error: the file is truncated or cannot be read further; everything before is printed.
bool print_records(Input& in, std::ostream& out, std::string* error);

// Text between quotes, control characters and quotes escaped.
std::string quoted(std::string_view text);

}  // namespace hprof::tool
