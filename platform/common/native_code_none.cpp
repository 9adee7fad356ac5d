// For systems whose libraries' symbol tables the agent does not read.
#include "platform/native_code.h"

namespace hprof::platform {

uint64_t library_changes() { return 0; }
bool find_library(uint64_t, LoadedLibrary*, SymbolTable*) { return false; }
void close_symbols(SymbolTable*) {}
bool symbol_at(const SymbolTable&, uint32_t, Symbol*) { return false; }

}  // namespace hprof::platform
