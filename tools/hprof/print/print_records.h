// Prints a binary file record by record.
#pragma once

#include <iosfwd>
#include <string>

#include "tools/format/input.h"

namespace hprof::tool {

// Prints a line per record and heap sub-record in file order, with names that the file has defined before.
// False with *error: truncated or unreadable; everything before is printed.
bool print_records(Input& in, std::ostream& out, std::string* error);

// A text in quotes, with quotes and control characters escaped.
std::string quoted(std::string_view text);

}  // namespace hprof::tool
