// Shared libraries and symbols.
#pragma once

#include <cstddef>

namespace hprof::platform {

// A library that was opened; it is never unloaded.
struct Library {
  void* handle = nullptr;
};

// The usual name of a shared library built as `<stem>`: ".so", ".dll".
extern const char* const kLibrarySuffix;

// Loads the library at `path`, binds all its symbols, exports none to others, and runs its constructors. On
// failure returns an error, with the loader's message in `reason`. [any]
int library_open(const char* path, Library* library, char* reason, size_t size);

// The address of an exported symbol, or nullptr. [any]
void* library_symbol(Library library, const char* name);

// The symbol in the scope of the whole process (the executable and its global libraries), or nullptr. [any]
void* symbol_in_process(const char* name);

// The symbol in the library that holds `address`, however that library was loaded, or nullptr: with a pointer
// from the JavaVM's function table this finds libjvm's exports even if it was not loaded globally. [any]
void* symbol_in_library_of(const void* address, const char* name);

// True: some library of the process exports `name` at an address other than `own`, and `is` says so of it.
// [any]
bool any_other(const char* name, const void* own, bool (*is)(const void* symbol));

// Absolute path, links resolved, of the library that holds `address`. Returns its length, or 0. [any]
size_t library_path_of(const void* address, char* path, size_t size);

}  // namespace hprof::platform
