#include "core/option/selection.h"

#include <initializer_list>

#include <hprof/collector.h>
#include <hprof/encoder.h>
#include <hprof/record.h>

#include "core/base/build.h"
#include "core/option/help_table.h"
#include "core/option/select_text.h"
#include "core/option/shipped.h"
#include "core/pipeline/record_kinds.h"
#include "core/plugin/verify.h"

namespace hprof {
namespace {

// True: plugin= with the unit's id, or format= with the id or the part after "encoder_".
bool has_id(const hprof_unit& unit, Str name, Str value) {
  const Str id(unit.id);
  if (name == "plugin") return id == value;
  return name == "format" && unit.kind == HPROF_UNIT_ENCODER &&
         (id == value ||
          (id.part(0, kEncoderPrefix.size) == kEncoderPrefix && id.part(kEncoderPrefix.size) == value));
}

bool is_selected(const hprof_unit& unit, Str name, Str value) {
  return unit.kind != kUnitOfCore && (select_matches(unit.select, name, value) || has_id(unit, name, value));
}

bool is_any_selected(const ModuleSet& modules, Str name, Str value) {
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    if (is_selected(*modules.unit(i).record, name, value)) return true;
  }
  return false;
}

bool is_selector(const ModuleSet& modules, Str name) {
  if (selects_shipped(name)) return true;
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    if (select_has_name(modules.unit(i).record->select, name)) return true;
  }
  return false;
}

const hprof_option* find_row(const ModuleSet& modules, Str name) {
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    const hprof_option* row = options_of(*modules.unit(i).record).find(name);
    if (row != nullptr) return row;
  }
  return nullptr;
}

bool plugins_answered(const ModuleSet& modules, Str value) {
  Str name;
  while (next_part(&value, '+', &name)) {
    if (!is_any_selected(modules, "plugin", name) && modules.state_of(name) == ModuleState::kMissing)
      return false;
  }
  return true;
}

bool is_answered(const ModuleSet& modules, Str name, Str value) {
  if (name == "plugin") return plugins_answered(modules, value);
  if (!is_selector(modules, name))
    return find_core_option(name) != nullptr || find_row(modules, name) != nullptr;
  // A later message names a missing shipped module.
  return selects_nothing(value) || names_shipped(name, value) || is_any_selected(modules, name, value);
}

// Chooses the units, in steps that share this state.
struct Chooser {
  const OptionList& list;
  const CoreConfig& core;
  ModuleNames* names;
  ModuleSet* modules;
  Selection* selection;
  Error* error;
  bool has_profile = false;  // not only the default is to run

  bool choose() {
    for (uint32_t i = 0; i < list.count(); ++i) {
      if (!list[i].replaced && !choose_by(list[i])) return false;
    }
    return choose_default_profile() && choose_default_outputs() && choose_default_filter() &&
           check_any_collector() && finish();
  }

  bool choose_by(const OptionItem& item) {
    if (item.name == "plugin") return choose_named(item.value);
    if (item.name == "file" || item.name == "net" || !is_selector(*modules, item.name)) return true;
    uint32_t count = 0;
    if (!take_selected(item.name, item.value, &count)) return false;
    if (item.name == "format" && selection->encoder == Selection::kNone)
      count = 0;  // it has selected collectors only
    if (count != 0 || selects_nothing(item.value)) return true;
    if (names_shipped(item.name, item.value)) return refuse(Refusal::kMissing, item.name, item.value);
    return refuse(Refusal::kValue, item.name, item.value);
  }

  // Chooses all units that the option selects. False: two of them exclude each other; *error says so.
  bool take_selected(Str name, Str value, uint32_t* count) {
    bool has_output = true;
    for (uint32_t i = 0; i < modules->unit_count(); ++i) {
      const hprof_unit& unit = *modules->unit(i).record;
      if (is_selected(unit, name, value) && (unit.flags & HPROF_UNIT_NO_OUTPUT) != 0) has_output = false;
    }
    for (const bool wanted : {true, false}) {
      for (uint32_t i = 0; i < modules->unit_count(); ++i) {
        Unit& unit = modules->unit(i);
        if (unit.module->wanted != wanted || !is_selected(*unit.record, name, value)) continue;
        ++*count;
        unit.is_reported = unit.is_reported || has_output;
        if (!take(i, chooses_profile(name) || name == "plugin")) return false;
      }
      if (*count != 0) return true;
    }
    return true;
  }

  bool take(uint32_t index, bool chooses) {
    Unit& unit = modules->unit(index);
    switch (unit.record->kind) {
      case HPROF_UNIT_COLLECTOR:
        has_profile = has_profile || chooses;
        unit.is_profile = unit.is_profile || chooses;
        if (unit.runs) return true;
        unit.runs = true;
        selection->collectors[selection->collector_count++] = index;
        return true;
      case HPROF_UNIT_ENCODER:
        return take_one("encoders", index, &selection->encoder);
      case HPROF_UNIT_FILTER:
        return take_one("filters", index, &selection->filter);
      default:
        return take_one("sinks", index, &selection->sink);
    }
  }

  bool take_one(Str kind, uint32_t index, uint32_t* place) {
    if (*place == Selection::kNone || *place == index) {
      *place = index;
      return true;
    }
    char text[256];
    TextWriter what(text, sizeof(text));
    what.put("two ").put(kind).put(" chosen: ").put(modules->unit(*place).record->id).put(" and ");
    what.put(modules->unit(index).record->id);
    return option_error(list, what.text(), error);
  }

  bool choose_named(Str value) {
    Str name;
    while (next_part(&value, '+', &name)) {
      uint32_t count = 0;
      if (!take_selected("plugin", name, &count)) return false;
      if (count == 0 && !choose_module(name)) return false;
    }
    return true;
  }

  // A module without a unit of its own name means its collectors, or its only unit.
  bool choose_module(Str name) {
    const Module* module = modules->find_module(name);
    if (module == nullptr) return refuse(Refusal::kPlugin, "plugin", name);
    uint32_t of_module = 0, collectors = 0, last = 0;
    for (uint32_t i = 0; i < modules->unit_count(); ++i) {
      if (modules->unit(i).module != module || modules->unit(i).record->kind == kUnitOfCore) continue;
      ++of_module;
      last = i;
      if (modules->unit(i).record->kind != HPROF_UNIT_COLLECTOR) continue;
      ++collectors;
      modules->unit(i).is_reported = true;
      if (!take(i, true)) return false;
    }
    if (collectors != 0) return true;
    if (of_module == 1) return take(last, true);
    return refuse(Refusal::kPlugin, "plugin", name);
  }

  // The module help_texts has the words.
  bool refuse(Refusal::Why why, Str name, Str value, Str module = Str()) const {
    if (const HelpTable* help = open_help(modules)) {
      help->explain({why, name, value, module}, list, *modules, error);
      return false;
    }
    char text[200];
    TextWriter what(text, sizeof(text));
    if (why != Refusal::kNothing) what.put_printable(name, 100).put('=').put_printable(value, 60).put(": ");
    return option_error(list, what.put("no unit of this build serves that").text(), error);
  }

  // False: a module of a value that needs several is missing.
  bool check_missing() const {
    for (uint32_t i = 0; i < names->count; ++i) {
      const WantedModule& wanted = names->items[i];
      if (wanted.why != Wanted::kAsked || modules->state_of(wanted.name) == ModuleState::kOpen) continue;
      return refuse(Refusal::kModule, wanted.option, wanted.value, wanted.name);
    }
    return true;
  }

  bool choose_default_profile() {
    const hprof_option& profile = default_profile();
    const OptionItem* typed = list.find(profile.name);
    if (has_profile || (typed != nullptr && selects_nothing(typed->value))) return true;
    const uint32_t before = names->count;
    if (!add_default_profile(list, names, error)) return false;
    for (uint32_t i = before; i < names->count; ++i) modules->open_wanted(names->items[i].name);
    for (uint32_t i = 0; i < names->count; ++i) {
      WantedModule& wanted = names->items[i];
      if (wanted.why == Wanted::kByDefault && wanted.option == profile.name) wanted.why = Wanted::kAsked;
    }
    uint32_t count = 0;
    return check_missing() && take_selected(profile.name, profile.default_text, &count);
  }

  bool choose_default_outputs() {
    if (!check_missing()) return false;
    uint32_t count = 0;
    if (selection->encoder == Selection::kNone && !take_selected("format", default_format(), &count))
      return false;
    if (selection->encoder == Selection::kNone) return refuse(Refusal::kMissing, "format", default_format());
    for (const char* name : {"net", "file"}) {
      const OptionItem* item = list.find(name);
      const bool is_default = Str(name) == "file";
      if (selection->sink != Selection::kNone || (item == nullptr && !is_default)) continue;
      const Str value = item == nullptr ? Str() : Str(item->value);
      if (!take_selected(name, value, &count)) return false;
      if (selection->sink == Selection::kNone) return refuse(Refusal::kMissing, name, value);
    }
    return true;
  }

  // Chooses the encoder's default filter, if this build has it.
  bool choose_default_filter() {
    const auto* ops = static_cast<const hprof_encoder_ops*>(modules->unit(selection->encoder).record->ops);
    if (kEmbedded || selection->filter != Selection::kNone || list.find("compress") != nullptr ||
        ops == nullptr)
      return true;
    if (!HPROF_HAS(ops, hprof_encoder_ops, compress)) return true;
    Shipped row;
    for (Str rest = shipped_rows(); next_shipped(&rest, &row);) {
      if (row.serves("compress", ops->compress)) modules->open_wanted(row.module);
    }
    uint32_t taken = 0;
    return take_selected("compress", ops->compress, &taken);
  }

  bool check_any_collector() const {
    if (selection->collector_count != 0 || core.start == 0 || takes_commands(core)) return true;
    return refuse(Refusal::kNothing, Str(), Str());
  }

  bool finish() {
    for (const uint32_t index : {selection->encoder, selection->sink, selection->filter}) {
      if (index != Selection::kNone) modules->unit(index).runs = true;
    }
    return check_collectors();
  }

  bool check_collectors() const {
    const hprof_unit& writer = *modules->unit(selection->encoder).record;
    for (uint32_t i = 0; i < selection->collector_count; ++i) {
      const hprof_unit& unit = *modules->unit(selection->collectors[i]).record;
      if (!takes_all_of(writer, unit)) return refuse(Refusal::kFormat, unit.id, writer.id);
      if (core.every != 0 && (unit.flags & HPROF_UNIT_WINDOWS) == 0)
        return refuse(Refusal::kWindows, unit.id, "every=");
    }
    return true;
  }
};

}  // namespace

bool all_answered(const OptionList& list, const ModuleSet& modules) {
  for (uint32_t i = 0; i < list.count(); ++i) {
    if (!is_answered(modules, list[i].name, list[i].value)) return false;
  }
  return true;
}

bool takes_all_of(const hprof_unit& writer, const hprof_unit& unit) {
  for (const char* const* name = unit.records; name != nullptr && *name != nullptr; ++name) {
    if (Str(*name) != HPROF_KIND_NOTE && !is_taken(writer.records, *name) &&
        hprof_is_listed(optional_of(&unit), *name) == 0)
      return false;
  }
  return true;
}

bool choose_units(const OptionList& list, const CoreConfig& core, ModuleNames* names, ModuleSet* modules,
                  Selection* selection, Error* error) {
  *selection = Selection();
  for (uint32_t i = 0; i < modules->unit_count(); ++i)
    modules->unit(i).runs = modules->unit(i).is_profile = modules->unit(i).is_reported = false;
  return Chooser{list, core, names, modules, selection, error}.choose();
}

}  // namespace hprof
