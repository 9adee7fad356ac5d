// The modules that were opened and the units in them.
//
// A refused module gives one message with the reason, and opening goes on; choose_units() decides whether it
// was needed. Opened modules stay open.
#pragma once

#include <hprof/plugin.h>

#include "core/base/message.h"
#include "core/plugin/core_module.h"
#include "core/plugin/module_search.h"

namespace hprof {

constexpr uint32_t kUnitsMost = kEmbedded ? 32 : 128;

// kGuessed: the option may mean a unit of another module. kByDefault: not typed; another unit may replace it.
enum class Wanted : uint32_t { kAsked, kGuessed, kByDefault };

// A module that an option needs.
struct WantedModule {
  char name[kModuleNameMost + 1];
  Str option, value;  // for messages; they live as long as the options
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
  bool wanted;  // an option or a default names it; false: an option may need it
};

struct Unit {
  const hprof_unit* record;
  const Module* module;
  void*
      config;  // its config struct, owned by the set; nullptr before bind_units, and if the unit does not run
  bool runs;
  bool is_profile;   // an option for profiles chose it; false: another one did, as format= may
  bool is_reported;  // false: only options chose it that also choose a unit without output, which uses it
};

// About 80 KiB, mostly config structs; part of the session. [onload] or [control], one thread.
class ModuleSet {
 public:
  // search and messages must outlive the set. Opens the wanted modules in order.
  void open(const ModuleSearch& search, const ModuleNames& names, const Messages& messages);

  // Opens one more wanted module, if it is not open. After open().
  void open_wanted(Str name);

  // Opens all other modules, linked in, shipped and in the folders: for help, and to know all option names.
  void open_all();

  // Opens a module of the core's own, and returns its table. nullptr: it is missing or, with a message, of
  // another build or refused. After open().
  const CoreTable* open_table(Str name, uint32_t size, uint32_t version);

  ModuleState state_of(Str module) const;
  const Module* find_module(Str name) const;
  uint32_t unit_count() const { return unit_count_; }
  Unit& unit(uint32_t index) { return units_[index]; }
  const Unit& unit(uint32_t index) const { return units_[index]; }
  const Unit* find_unit(Str id) const;
  const ModuleSearch& search() const { return *search_; }

  // Zeroed memory for a config struct, aligned to 16 bytes, which lives as long as the set; nullptr:
  // exhausted. [onload]
  void* config_memory(uint32_t bytes);

 private:
  ModuleState open_one(Str name, bool wanted);
  ModuleState admit(hprof_module_entry entry, Str name, const char* place, bool linked_in, bool wanted);
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
  // Aligned at run time: 32-bit C libraries align the set itself to 8 bytes only.
  unsigned char config_[kConfigBytes + kConfigAlignment];
};

// ModuleSearch::verify. False: *reason says what is wrong with the module, or with its units beside those of
// the set.
bool verify_module_for(const ModuleSet& modules, const hprof_module& module, Str name, TextWriter* reason);

}  // namespace hprof
