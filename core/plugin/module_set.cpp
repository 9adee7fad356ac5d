#include "core/plugin/module_set.h"

#include "core/base/build.h"
#include "core/plugin/option_row.h"
#include "core/plugin/verify.h"

namespace hprof {
namespace {

constexpr const char* kLinkedIn = "linked in";

void copy_name(char (&to)[kModuleNameMost + 1], Str name) {
  TextWriter out(to, sizeof(to));
  out.put(name);
}

CoreOption core_option(const ModuleSearch& search, const hprof_unit& unit, Str name) {
  return search.core_option == nullptr ? CoreOption::kNo : search.core_option(unit, name);
}

bool is_same(const char* a, const char* b) {
  return Str(a != nullptr ? a : "") == Str(b != nullptr ? b : "");
}

// True: one value is right for both.
bool is_alike(const hprof_option& a, const hprof_option& b) {
  return a.type == b.type && is_same(a.default_text, b.default_text) && is_same(a.choices, b.choices) &&
         a.min == b.min && a.max == b.max && is_same(a.help, b.help);
}

// True: both units have the option *name and can run together. Any number of units may share one that is the
// core's, or that they describe alike.
bool shares_option(const hprof_unit& a, const hprof_unit& b, const ModuleSearch& search, Str* name) {
  if (a.kind == b.kind && a.kind != HPROF_UNIT_COLLECTOR) return false;
  const OptionTable mine = options_of(a);
  const OptionTable theirs = options_of(b);
  for (uint32_t i = 0; i < mine.count; ++i) {
    *name = mine[i].name;
    const hprof_option* other = theirs.find(*name);
    if (other == nullptr || is_alike(mine[i], *other)) continue;
    if (core_option(search, a, *name) == CoreOption::kNo) return true;
  }
  return false;
}

// The value would be the core's, too.
bool takes_core_option(const hprof_unit& unit, const ModuleSearch& search, TextWriter* reason) {
  const OptionTable rows = options_of(unit);
  for (uint32_t i = 0; i < rows.count; ++i) {
    if (core_option(search, unit, rows[i].name) != CoreOption::kTaken) continue;
    reason->put("has an option ").put(rows[i].name).put(", a name that is the agent's own");
    return true;
  }
  return false;
}

bool pair_clashes(const hprof_unit& unit, const hprof_unit& other, Str other_module,
                  const ModuleSearch& search, TextWriter* reason) {
  Str name;
  if (Str(unit.id) == Str(other.id)) {
    reason->put("has a unit ").put(unit.id).put(", a name that is taken by module ").put(other_module);
    return true;
  }
  if (shares_option(unit, other, search, &name)) {
    reason->put("has an option ").put(name).put(", a name that is taken by unit ").put(other.id);
    return true;
  }
  return false;
}

}  // namespace

bool ModuleNames::has(Str name) const {
  for (uint32_t i = 0; i < count; ++i) {
    if (Str(items[i].name) == name) return true;
  }
  return false;
}

void ModuleSet::open(const ModuleSearch& search, const ModuleNames& names, const Messages& messages) {
  search_ = &search;
  messages_ = messages;
  module_count_ = unit_count_ = refused_count_ = 0;
  config_used_ = 0;
  for (uint32_t i = 0; i < names.count; ++i) open_one(names.items[i].name, true);
}

void ModuleSet::open_all() {
  const StaticModule* linked_in = search_->linked_in;
  for (; linked_in != nullptr && linked_in->name != nullptr; ++linked_in) open_one(linked_in->name, false);
  const auto shipped = search_->shipped;
  for (uint32_t i = 0; shipped != nullptr && !shipped(i).empty(); ++i) open_one(shipped(i), false);
  if (!kHasModules) return;
  FoundModules found;
  list_modules(*search_, &found);
  for (uint32_t i = 0; i < found.count; ++i) open_one(found.names[i], false);
  if (found.left_out != 0) messages_.message("more than 64 plugins in the folders: the rest is ignored");
}

void ModuleSet::open_wanted(Str name) {
  open_one(name, true);
  for (uint32_t i = 0; i < module_count_; ++i) {
    if (Str(modules_[i].record->name) == name) modules_[i].wanted = true;
  }
}

const CoreTable* ModuleSet::open_table(Str name, uint32_t size, uint32_t version) {
  if (open_one(name, false) != ModuleState::kOpen) return nullptr;
  const hprof_module& record = *find_module(name)->record;
  const hprof_unit* unit = record.unit_count != 0 ? record.units[0] : nullptr;
  const auto* table =
      unit != nullptr && unit->kind == kUnitOfCore ? static_cast<const CoreTable*>(unit->ops) : nullptr;
  if (table != nullptr && table->size == size && table->version == version) return table;
  char text[120];
  TextWriter(text, sizeof(text)).put("the module ").put(name).put(" is of another version");
  messages_.message(text);
  return nullptr;
}

ModuleState ModuleSet::state_of(Str module) const {
  if (find_module(module) != nullptr) return ModuleState::kOpen;
  for (uint32_t i = 0; i < refused_count_; ++i) {
    if (Str(refused_[i]) == module) return ModuleState::kRefused;
  }
  return ModuleState::kMissing;
}

const Module* ModuleSet::find_module(Str name) const {
  for (uint32_t i = 0; i < module_count_; ++i) {
    if (Str(modules_[i].record->name) == name) return &modules_[i];
  }
  return nullptr;
}

const Unit* ModuleSet::find_unit(Str id) const {
  for (uint32_t i = 0; i < unit_count_; ++i) {
    if (Str(units_[i].record->id) == id) return &units_[i];
  }
  return nullptr;
}

void* ModuleSet::config_memory(uint32_t bytes) {
  const size_t rounded = (size_t{bytes} + kConfigAlignment - 1) & ~(kConfigAlignment - 1);
  if (rounded > kConfigBytes - config_used_) return nullptr;
  void* memory = config_ + (-reinterpret_cast<uintptr_t>(config_) & (kConfigAlignment - 1)) + config_used_;
  config_used_ += rounded;
  memset(memory, 0, rounded);
  return memory;
}

ModuleState ModuleSet::open_one(Str name, bool wanted) {
  const ModuleState known = state_of(name);
  if (known != ModuleState::kMissing) return known;
  const StaticModule* linked_in = search_->linked_in;
  for (; linked_in != nullptr && linked_in->name != nullptr; ++linked_in) {
    if (Str(linked_in->name) == name) return admit(linked_in->entry, name, kLinkedIn, true, wanted);
  }
  char path[kPathMost];
  if (!search_->find(name, path)) return ModuleState::kMissing;
  const LibraryLoader& loader = search_->loader;
  char reason[256] = {};
  void* library = loader.open(loader.context, path, reason, sizeof(reason));
  if (library == nullptr)
    return refuse(name, path, Str(reason).empty() ? Str("it cannot be loaded") : Str(reason));
  void* symbol = loader.symbol(loader.context, library, HPROF_MODULE_ENTRY_NAME);
  if (symbol == nullptr) return refuse(name, path, "it does not export " HPROF_MODULE_ENTRY_NAME);
  hprof_module_entry entry;
  memcpy(&entry, &symbol, sizeof(entry));
  return admit(entry, name, path, false, wanted);
}

ModuleState ModuleSet::admit(hprof_module_entry entry, Str name, const char* place, bool linked_in,
                             bool wanted) {
  char text[512];
  TextWriter reason(text, sizeof(text));
  const hprof_offer offer = make_offer();
  const char* said = nullptr;
  const hprof_module* record = entry(&offer, &said);
  if (record == nullptr) {
    reason.put("it says: ").put_printable(said == nullptr ? Str("nothing") : Str(said), 200);
    return refuse(name, place, reason.text());
  }
  reason.put("it ");
  if (search_->verify != nullptr && !search_->verify(*this, *record, name, &reason))
    return refuse(name, place, reason.text());
  if (module_count_ == kModulesMost || record->unit_count > kUnitsMost - unit_count_) {
    return refuse(name, place, "there are more than 64 modules or 128 units");
  }
  Module& module = modules_[module_count_++];
  module = Module{record, linked_in, wanted};
  for (uint32_t i = 0; i < record->unit_count; ++i) {
    units_[unit_count_++] = Unit{record->units[i], &module, nullptr, false, false};
  }
  return ModuleState::kOpen;
}

bool verify_module_for(const ModuleSet& modules, const hprof_module& module, Str name, TextWriter* reason) {
  const ModuleSearch& search = modules.search();
  if (!verify_module(&module, name, reason)) return false;
  for (uint32_t i = 0; i < module.unit_count; ++i) {
    if (takes_core_option(*module.units[i], search, reason)) return false;
    for (uint32_t j = 0; j < modules.unit_count(); ++j) {
      const Unit& other = modules.unit(j);
      if (pair_clashes(*module.units[i], *other.record, other.module->record->name, search, reason))
        return false;
    }
    for (uint32_t j = 0; j < i; ++j) {
      if (pair_clashes(*module.units[i], *module.units[j], module.name, search, reason)) return false;
    }
  }
  return true;
}

ModuleState ModuleSet::refuse(Str name, const char* place, Str reason) {
  char text[1024];
  TextWriter out(text, sizeof(text));
  out.put("plugin ").put_printable(name).put(" (").put_printable(place, 300).put(") is refused: ");
  out.put_printable(reason);
  messages_.message(text);
  if (refused_count_ < kModulesMost) copy_name(refused_[refused_count_++], name);
  return ModuleState::kRefused;
}

}  // namespace hprof
