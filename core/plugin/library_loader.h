// Finds and opens modules by function pointers, so that tests need no libraries.
#pragma once

#include <cstddef>

namespace hprof {

struct LibraryLoader {
  // nullptr on failure, with one line in `reason` (size bytes, NUL-terminated). A library is never closed
  // again.
  void* (*open)(void* context, const char* path, char* reason, size_t size);
  // nullptr: the library does not export it.
  void* (*symbol)(void* context, void* library, const char* name);
  bool (*exists)(void* context, const char* path);
  // Calls visit for each name in the folder until it returns false; nothing if there is no such folder.
  void (*list)(void* context, const char* folder, bool (*visit)(void* argument, const char* name),
               void* argument);
  void* context;
  const char* suffix;   // of a module's file: ".so"
  char list_separator;  // between the folders of plugins=: ':', on Windows ';'
};

// The loader of the operating system. [onload][control]
LibraryLoader platform_library_loader();

}  // namespace hprof
