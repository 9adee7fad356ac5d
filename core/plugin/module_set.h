// The modules that were opened and the units in them.
//
// Opening never fails as a whole: a module that is refused is named with its reason in one message, and the
// run goes on without it. choose_units() decides whether it was needed. Opened modules stay open.
#pragma once

#include <hprof/plugin.h>

#include "core/base/message.h"
#include "core/plugin/core_module.h"
#include "core/plugin/module_search.h"

namespace hprof {

constexpr uint32_t kUnitsMost = kEmbedded ? 32 : 128;

// kGuessed: the option may mean a unit of another module. kByDefault: nobody typed it, and another unit may
// take over.
enum class Wanted : uint32_t { kAsked, kGuessed, kByDefault };

// A module that an option asks for.
struct WantedModule {
  char name[kModuleNameMost + 1];
  char option[96];  // that asks, for messages: "heap=sites"
  Wanted why;
};
struct ModuleNames {
  WantedModule items[kModulesMost];
  uint32_t count = 0;

  bool has(Str name) const;
};

enum class ModuleState : uint32_t { kOpen, kMissing, kRefused };

struct Module {
  const hprof_module* record;
  bool linked_in;
  bool wanted;  // an option names it, or it is a default; false: it may serve an option
};

struct Unit {
  const hprof_unit* record;
  const Module* module;
  void* config;  // the unit's config struct, owned by the set; nullptr until bind_all, and for units that do
                 // not run
  bool runs;
};

// About 80 KiB, most of it config structs; part of the session. [onload] or [control], one thread.
class ModuleSet {
 public:
  // search and messages must outlive the set. Opens the wanted modules in order.
  void open(const ModuleSearch& search, const ModuleNames& names, const Messages& messages);

  // One more wanted module, perhaps open already. After open().
  void open_wanted(Str name);

  // Opens all other modules: linked in, shipped, in the folders. For help, and to know all option names.
  void open_all();

  // Opens a module of the core's own, which no option names, and returns its table. nullptr: it is missing,
  // is of another build, or was refused; a message says the last two. After open().
  const CoreTable* open_table(Str name, uint32_t size, uint32_t version);

  ModuleState state_of(Str module) const;
  const Module* find_module(Str name) const;
  uint32_t unit_count() const { return unit_count_; }
  Unit& unit(uint32_t index) { return units_[index]; }
  const Unit& unit(uint32_t index) const { return units_[index]; }
  Unit* find_unit(Str id);
  const ModuleSearch& search() const { return *search_; }

  // Zeroed memory for a config struct, aligned to 16 bytes, as long-lived as the set; nullptr: all of it is
  // used. [onload]
  void* config_memory(uint32_t bytes);

 private:
  ModuleState open_one(Str name, bool wanted);
  ModuleState admit(hprof_module_entry entry, Str name, const char* place, bool linked_in, bool wanted);
  bool clashes(const hprof_module& module, TextWriter* reason) const;
  ModuleState refuse(Str name, const char* place, Str reason);

  static constexpr size_t kConfigBytes = kEmbedded ? 4096 : 65536;
  static constexpr size_t kConfigAlignment = 16;

  const ModuleSearch* search_ = nullptr;
  Messages messages_;
  Module modules_[kModulesMost];
  uint32_t module_count_ = 0;
  Unit units_[kUnitsMost];
  uint32_t unit_count_ = 0;
  char refused_[kModulesMost][kModuleNameMost + 1];
  uint32_t refused_count_ = 0;
  size_t config_used_ = 0;
  // Begins somewhere in the first bytes: the C libraries of 32-bit systems align the set itself to 8 bytes
  // only.
  unsigned char config_[kConfigBytes + kConfigAlignment];
};

}  // namespace hprof
