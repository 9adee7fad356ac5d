// The modules of this project by the options that select them.
#include "core/option/shipped.h"

#include <initializer_list>

#include "core/base/text_tools.h"
#include "core/option/core_options.h"
#include "core/option/help_table.h"
#include "core/option/select_text.h"
#include "core/plugin/option_row.h"
#include "core/plugin/verify.h"

namespace hprof {
namespace {

bool is_of_core(const hprof_module& module) {
  return module.units[0] != nullptr && module.units[0]->kind == kUnitOfCore;
}

bool is_ours(const hprof_module& module) {
  Shipped row;
  for (Str rest = shipped_rows(); next_shipped(&rest, &row);) {
    if (row.module == module.name) return true;
  }
  return is_of_core(module);
}

bool add_module(const OptionList& list, Str module, Str option, Str value, Wanted why, ModuleNames* names,
                Error* error) {
  if (names->has(module)) return true;
  if (names->count == kModulesMost) return option_error(list, "too many modules asked for", error);
  WantedModule& added = names->items[names->count++];
  TextWriter(added.name, sizeof(added.name)).put(module);
  added.option = option;
  added.value = value;
  added.why = why;
  return true;
}

bool add_shipped(const OptionList& list, Str name, Str value, Wanted why, ModuleNames* names, Error* error) {
  Shipped row;
  for (Str rest = shipped_rows(); next_shipped(&rest, &row);) {
    if (row.serves(name, value) && !add_module(list, row.module, name, value, why, names, error))
      return false;
  }
  return true;
}

// True: a shipped module with this prefix is among the names, from one on.
bool has_kind(const ModuleNames& names, Str prefix, uint32_t from = 0) {
  for (uint32_t i = from; i < names.count; ++i) {
    if (starts_with(names.items[i].name, prefix)) return true;
  }
  return false;
}

bool add_format(const OptionList& list, Str value, ModuleNames* names, Error* error) {
  const uint32_t before = names->count;
  if (!add_shipped(list, "format", value, Wanted::kAsked, names, error)) return false;
  if (has_kind(*names, kEncoderPrefix, before)) return true;
  // The name becomes a part of a path, so only a plain name reaches the loader. Any other is no format.
  if (!is_plain_name(value, kModuleNameMost - kEncoderPrefix.size, false)) return true;
  char module[kModuleNameMost + 1];
  TextWriter(module, sizeof(module)).put(kEncoderPrefix).put(value);
  return add_module(list, module, "format", value, Wanted::kGuessed, names, error);
}

bool add_plugins(const OptionList& list, Str value, ModuleNames* names, Error* error) {
  Str name;
  while (next_part(&value, '+', &name)) {
    if (!is_plain_name(name, kModuleNameMost, false)) {
      return option_error(list, "plugin option value must be <unit>[+<unit>...], of letters, digits and _",
                          error);
    }
    if (!add_module(list, name, "plugin", name, Wanted::kGuessed, names, error)) return false;
  }
  return true;
}

// True: the option says which encoder or sink runs, so its module is added in the order of their precedence.
bool is_of_output(Str name) { return name == "format" || name == "net" || name == "file"; }

// True: the option chooses a collector, as far as that is known before modules are open.
bool chooses_collector(Str name) {
  if (is_profile_selector(name)) return true;
  Shipped row;
  for (Str rest = shipped_rows(); next_shipped(&rest, &row);) {
    bool is_collector = row.name == name && chooses_profile(name);
    for (const Str prefix : {kEncoderPrefix, kFilterPrefix, kSinkPrefix})
      is_collector = is_collector && !starts_with(row.module, prefix);
    if (is_collector) return true;
  }
  return false;
}

}  // namespace

bool add_default_profile(const OptionList& list, ModuleNames* names, Error* error) {
  const hprof_option& profile = default_profile();
  return add_shipped(list, profile.name, profile.default_text, Wanted::kByDefault, names, error);
}

bool select_modules(const OptionList& list, ModuleNames* names, Error* error) {
  names->count = 0;
  bool is_default = list.find(default_profile().name) == nullptr && list.find("plugin") == nullptr;
  for (uint32_t i = 0; i < list.count(); ++i) {
    const OptionItem& item = list[i];
    if (item.replaced || is_of_output(item.name) || selects_nothing(item.value)) continue;
    if (chooses_collector(item.name)) is_default = false;
    if (!add_shipped(list, item.name, item.value, Wanted::kAsked, names, error)) return false;
  }
  if (is_default && !add_default_profile(list, names, error)) return false;
  const bool has_sink = has_kind(*names, kSinkPrefix);
  const OptionItem* plugin = list.find("plugin");
  if (plugin != nullptr && !add_plugins(list, plugin->value, names, error)) return false;
  const OptionItem* format = list.find("format");
  if (format != nullptr && !add_format(list, format->value, names, error)) return false;
  if (format == nullptr && !add_shipped(list, "format", default_format(), Wanted::kByDefault, names, error))
    return false;
  if (has_sink) return true;
  const OptionItem* net = list.find("net");
  return net != nullptr ? add_shipped(list, "net", net->value, Wanted::kAsked, names, error)
                        : add_shipped(list, "file", "", Wanted::kByDefault, names, error);
}

bool selects_shipped(Str name) {
  Shipped row;
  for (Str rest = shipped_rows(); next_shipped(&rest, &row);) {
    if (name == row.name) return true;
  }
  return false;
}

bool names_shipped(Str name, Str value) {
  Shipped row;
  for (Str rest = shipped_rows(); next_shipped(&rest, &row);) {
    if (row.serves(name, value)) return true;
  }
  return false;
}

Str shipped_module(uint32_t index) {
  Shipped row;
  for (Str rest = shipped_rows(); next_shipped(&rest, &row); --index) {
    if (index == 0) return row.module;
  }
  return Str();
}

bool verify_foreign(const ModuleSet& modules, const hprof_module& module, Str name, TextWriter* reason) {
  if (!verify_record(&module, name, reason)) return false;
  bool all_ours = is_ours(module);
  for (uint32_t i = 0; i < modules.unit_count(); ++i)
    all_ours = all_ours && is_ours(*modules.unit(i).module->record);
  if (all_ours || is_of_core(module)) return true;
  const HelpTable* help = open_help(const_cast<ModuleSet*>(&modules));
  if (help != nullptr) return help->verify(modules, module, name, reason);
  reason->put("cannot be verified: the module help_texts is missing");
  return false;
}

void know_core(ModuleSearch* search) {
  search->shipped = &shipped_module;
  search->core_option = [](const hprof_unit& unit, Str name) {
    if (find_core_option(name) == nullptr) return CoreOption::kNo;
    return is_shared_option(name) || select_has_name(unit.select, name) ? CoreOption::kShared
                                                                        : CoreOption::kTaken;
  };
}

bool Shipped::serves(Str option, Str typed) const {
  return name == option && (value.empty() || matches_pattern(value, typed));
}

bool next_shipped(Str* rest, Shipped* row) {
  Str line;
  if (!next_part(rest, '\n', &line)) return false;
  const size_t space = line.find(' ');
  const size_t equals = line.find('=');
  row->name = line.part(0, equals < space ? equals : space);
  row->value = line.part(equals + 1, space);
  row->module = line.part(space + 1);
  return true;
}

}  // namespace hprof
