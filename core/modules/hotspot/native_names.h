// Names of native code by its address: the library, and the function where the library's symbol table has it
// with a size. No function is guessed from a symbol nearby. One thread at a time.
#pragma once

#include <cstdint>

#include <hprof/draft/walk.h>

#include "core/base/memory.h"
#include "core/base/text.h"
#include "platform/platform.h"

namespace hprof {

class NativeNames {
 public:
  // Names the code at pc. The symbol is "" where it is not known, both are "" outside of libraries. [control]
  void find(const Memory& memory, uint64_t pc, hprof_native_name* name);
  // Gives the memory back. [control]
  void close(const Memory& memory);

  // Writes a function of C++ as in the source, without parameters; other names, and those with templates, as
  // they are.
  static void write_symbol(Str symbol, TextWriter& to);

 private:
  static constexpr uint32_t kMostLibraries = 64;
  // A function, by its distance from the library's base. In order, so that it is found by bisection.
  struct Function {
    uint32_t offset, symbol;
  };
  struct Library {
    platform::LoadedLibrary at;
    platform::SymbolTable table;
    Function* functions;
    uint32_t function_count;
  };

  Library* library_of(const Memory& memory, uint64_t pc);
  void forget(const Memory& memory, Library* library);
  static bool read_functions(const Memory& memory, Library* library);
  static const char* function_at(const Library& library, uint64_t offset);

  Library libraries_[kMostLibraries] = {};
  uint32_t library_count_ = 0;
  uint64_t changes_ = 0;
};

}  // namespace hprof
