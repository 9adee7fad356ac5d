// Native code by address: the library that an address belongs to, and the functions of the library's symbol
// table.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof::platform {

// The symbol table of a library: .symtab of its file, or .dynsym. Without it `count` is 0. Read it by guarded
// reads: the file may be cut while it is mapped.
struct SymbolTable {
  const uint8_t* symbols = nullptr;
  uint32_t count = 0;
  const char* names = nullptr;  // `name_bytes` of them, the last is NUL
  uint64_t name_bytes = 0;
  void* mapped = nullptr;  // the file; nullptr: memory of the process
  size_t mapped_bytes = 0;
};

struct LoadedLibrary {
  uint64_t begin = 0, end = 0;  // of its segments in memory
  uint64_t base = 0;            // what is added to the addresses in its file
  char name[64] = "";           // its file, without folders
};

// A number that changes when the process loads or unloads a library. [any]
uint64_t library_changes();

// Finds the library that holds `address` and, if `table` is not nullptr, opens its symbol table: of its file,
// if the file is still the one that was loaded. False: no library, or it is not known on this system. [any]
bool find_library(uint64_t address, LoadedLibrary* library, SymbolTable* table);
void close_symbols(SymbolTable* table);

// A function of the table that has a size.
struct Symbol {
  uint64_t offset, bytes;  // offset: from LoadedLibrary.base
  const char* name;        // NUL-terminated; not guarded
  bool is_global;
};
// False: symbol `index` is none. [any]
bool symbol_at(const SymbolTable& table, uint32_t index, Symbol* symbol);

}  // namespace hprof::platform
