// What a shared library exports and needs, read from its file.
#pragma once

#include <string>
#include <vector>

namespace hprof::tool {

struct LibrarySymbols {
  std::vector<std::string> exported;  // functions and data that others can bind to, sorted
  std::vector<std::string> needed;    // libraries, as they stand in the file
};

// False: it is not an ELF library of this byte order, or is truncated.
bool read_symbols(const std::string& content, LibrarySymbols* symbols);

}  // namespace hprof::tool
