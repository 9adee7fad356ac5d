// Finds modules: linked in, then <agent's folder>/hprof/plugins, then <agent's folder>, then the folders of
// plugins=. The first file named <module><suffix> is used.
#pragma once

#include <hprof/plugin.h>

#include "core/base/build.h"
#include "core/base/text.h"
#include "core/plugin/library_loader.h"
#include "core/plugin/static_modules.h"

namespace hprof {

constexpr uint32_t kModulesMost = kEmbedded ? 16 : 64;
constexpr size_t kModuleNameMost = 63;
constexpr size_t kPathMost = 4096;
constexpr uint32_t kAgentFolders = 2;  // number of the agent's own folders, which come first

// What the name of a unit's option means to the core: nothing; an option of its own that the unit may
// declare, too; one that it may not.
enum class CoreOption : uint32_t { kNo, kShared, kTaken };

class ModuleSet;

// All pointers belong to the caller and live as long as the session.
struct ModuleSearch {
  const StaticModule* linked_in = nullptr;  // nullptr: none
  Str agent_folder;                         // of the agent's library, without a final '/'; empty: none
  Str plugin_folders;                       // plugins=
  LibraryLoader loader = {};
  // The shipped modules, which are looked for by name beside the agent: some more than once, empty after the
  // last; and what the name of a unit's option means to the core. Either may be nullptr: none.
  Str (*shipped)(uint32_t index) = nullptr;
  CoreOption (*core_option)(const hprof_unit& unit, Str name) = nullptr;
  // verify_module_for(), or nullptr: all modules are as they should be.
  bool (*verify)(const ModuleSet& modules, const hprof_module& module, Str name,
                 TextWriter* reason) = nullptr;

  // Writes the folder `index` to `path` (kPathMost bytes). False: there are fewer. Empty and overlong folders
  // are skipped.
  bool folder(uint32_t index, char* path) const;
  // The first existing file of that module. False: there is none.
  bool find(Str module, char* path) const;
  // As find(), from the folder *index on, which becomes that of the file.
  bool find_from(uint32_t* index, Str module, char* path) const;
  // Writes the first folder of plugins= that does not exist to `path` (kPathMost bytes). False: all do.
  bool find_absent_folder(char* path) const;
  // Appends all folders, for messages.
  void put_folders(TextWriter* out) const;
};

// Names of modules, in order, each once.
struct FoundModules {
  char names[kModulesMost][kModuleNameMost + 1];
  uint32_t count = 0;
  uint32_t left_out = 0;  // beyond kModulesMost
};

// Lists the files that are named like modules (never lib*) in all folders but the agent's own, sorted by
// name. [control]
void list_modules(const ModuleSearch& search, FoundModules* found);

// "/a/b" for "/a/b/c", "." for "c". [any]
Str folder_of(Str path);

}  // namespace hprof
