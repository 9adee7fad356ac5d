// Reads what a shared library exports and needs.
#pragma once

#include <string>
#include <vector>

namespace hprof::tool {

struct LibrarySymbols {
  std::vector<std::string> exported;  // functions and data that others can bind to, sorted
  std::vector<std::string> needed;    // libraries, as named in the file
};

// False: no ELF library of this byte order, or truncated.
bool read_symbols(const std::string& content, LibrarySymbols* symbols);

}  // namespace hprof::tool
