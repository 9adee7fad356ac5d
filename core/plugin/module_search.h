// Where modules are looked for: linked in, then <agent's folder>/hprof/plugins, then <agent's folder>, then
// the folders of plugins=. The first file named <module><suffix> is used.
#pragma once

#include "core/base/build.h"
#include "core/base/text.h"
#include "core/plugin/library_loader.h"
#include "core/plugin/static_modules.h"

namespace hprof {

constexpr uint32_t kModulesMost = kEmbedded ? 16 : 64;
constexpr size_t kModuleNameMost = 63;
constexpr size_t kPathMost = 4096;
constexpr uint32_t kAgentFolders = 2;  // of the agent's own, the first

// All pointers are the caller's and live as long as the session.
struct ModuleSearch {
  const StaticModule* linked_in = nullptr;  // nullptr: none
  Str agent_folder;    // of the agent's own library, no '/' at its end; empty: not looked at
  Str plugin_folders;  // plugins=
  LibraryLoader loader = {};
  // The shipped modules, which are looked for by name beside the agent, nullptr after the last; and the
  // options of the core, which several units may have. Either may be nullptr: none.
  const char* (*shipped)(uint32_t index) = nullptr;
  bool (*is_core_option)(Str name) = nullptr;

  // The folder numbered `index` into `path` (kPathMost bytes). False: there are not so many. An empty or
  // overlong folder is left out.
  bool folder(uint32_t index, char* path) const;
  // The file of that module: the first one that exists. False: there is none.
  bool find(Str module, char* path) const;
  // The same from the folder numbered *index on, whose number it becomes.
  bool find_from(uint32_t* index, Str module, char* path) const;
  // All folders, for messages.
  void put_folders(TextWriter* out) const;
};

// Names of modules, in order, each once.
struct FoundModules {
  char names[kModulesMost][kModuleNameMost + 1];
  uint32_t count = 0;
  uint32_t left_out = 0;  // beyond kModulesMost
};

// Every file in the search's folders, but for the agent's own, that is named like a module, sorted by name;
// lib* is never a module. [control]
void list_modules(const ModuleSearch& search, FoundModules* found);

// "/a/b" of "/a/b/c", "." of "c". [any]
Str folder_of(Str path);

}  // namespace hprof
