// Options to modules, modules to units.
#include "core/option/selection.h"

#include <initializer_list>

#include <hprof/record.h>

#include "core/option/core_options.h"

namespace hprof {
namespace {

// Which module to open for what is typed. Several rows may match; value nullptr: any.
struct Shipped {
  const char* name;
  const char* value;
  const char* module;
};
constexpr Shipped kShipped[] = {
    {"heap", "dump", "heap_dump"},        {"heap", "sites", "heap_sites"},
    {"heap", "all", "heap_dump"},         {"heap", "all", "heap_sites"},
    {"cpu", "samples", "cpu_samples"},    {"cpu", "times", "cpu_times"},
    {"cpu", "old", "cpu_times"},          {"cpu", "y", "cpu_samples"},
    {"monitor", "y", "monitor"},          {"monitor", "all", "monitor"},
    {"format", "a", "encoder_ascii"},     {"format", "b", "encoder_binary"},
    {"net", nullptr, "sink_socket"},      {"file", nullptr, "sink_file"},
    {"compress", nullptr, "filter_gzip"}, {"msa", "y", "msa"},
};

constexpr uint32_t kNone = UINT32_MAX;

bool add_module(const OptionList& list, Str module, Str option, bool by_default, ModuleNames* names,
                Error* error) {
  if (names->has(module)) return true;
  if (names->count == kModulesMost) return option_error(list, "too many modules asked for", error);
  WantedModule& added = names->items[names->count++];
  TextWriter(added.name, sizeof(added.name)).put(module);
  TextWriter(added.option, sizeof(added.option)).put_printable(option, 80);
  added.by_default = by_default;
  return true;
}

bool add_shipped(const OptionList& list, Str name, Str value, bool by_default, ModuleNames* names,
                 Error* error) {
  char text[96];
  TextWriter option(text, sizeof(text));
  option.put(name).put('=').put(value.part(0, 60));
  for (const Shipped& row : kShipped) {
    if (name != row.name || (row.value != nullptr && value != row.value)) continue;
    if (!add_module(list, row.module, option.text(), by_default, names, error)) return false;
  }
  return true;
}

bool add_format(const OptionList& list, Str value, ModuleNames* names, Error* error) {
  if (value == "a" || value == "b") return add_shipped(list, "format", value, false, names, error);
  constexpr Str kPrefix = "encoder_";
  // The name goes into a path: nothing but a plain name may reach the loader.
  if (!is_plain_name(value, kModuleNameMost - kPrefix.size, false)) {
    return option_error(list, "format option value must be a|b or the name of an encoder", error);
  }
  char module[kModuleNameMost + 1];
  char option[96];
  TextWriter(module, sizeof(module)).put(kPrefix).put(value);
  TextWriter(option, sizeof(option)).put("format=").put(value);
  return add_module(list, module, option, false, names, error);
}

bool add_plugins(const OptionList& list, Str value, ModuleNames* names, Error* error) {
  Str name;
  while (next_part(&value, '+', &name)) {
    if (!is_plain_name(name, kModuleNameMost, false)) {
      return option_error(list, "plugin option value must be <unit>[+<unit>...], of letters, digits and _",
                          error);
    }
    char option[96];
    TextWriter(option, sizeof(option)).put("plugin=").put(name);
    if (!add_module(list, name, option, false, names, error)) return false;
  }
  return true;
}

bool selects_profile(const OptionList& list) {
  for (const char* name : {"heap", "cpu", "monitor", "plugin"}) {
    if (list.find(name) != nullptr) return true;
  }
  return false;
}

// "cpu=times|old" for one option of a select text, as the original spells it.
void put_condensed(const char* select, TextWriter* out) {
  Str rest(select);
  Str typed;
  Str last;
  while (next_part(&rest, '|', &typed)) {
    const size_t equals = typed.find('=');
    const Str name = typed.part(0, equals);
    if (out->size() != 0) out->put('|');
    out->put(name == last && !last.empty() ? typed.part(equals + 1) : typed);
    last = name;
  }
}

// The choice of units, in steps that share all of this.
struct Chooser {
  const OptionList& list;
  const ModuleNames& names;
  ModuleSet* modules;
  Selection* selection;
  Error* error;

  bool usable(const Unit& unit) const { return unit.module->wanted; }

  void add_collector(uint32_t index) {
    Unit& unit = modules->unit(index);
    if (unit.runs) return;
    unit.runs = true;
    selection->collectors[selection->collector_count++] = index;
  }

  // Collectors that this option selects. False: none.
  bool add_selected(Str name, Str value) {
    bool any = false;
    for (uint32_t i = 0; i < modules->unit_count(); ++i) {
      const Unit& unit = modules->unit(i);
      if (!usable(unit) || unit.record->kind != HPROF_UNIT_COLLECTOR) continue;
      if (!select_matches(unit.record->select, name, value)) continue;
      add_collector(i);
      any = true;
    }
    return any;
  }

  // The first unit of that kind which the option selects, else the one with that id.
  uint32_t find_output(uint32_t kind, Str name, Str value, Str id) const {
    uint32_t by_id = kNone;
    for (uint32_t i = 0; i < modules->unit_count(); ++i) {
      const Unit& unit = modules->unit(i);
      if (!usable(unit) || unit.record->kind != kind) continue;
      if (select_matches(unit.record->select, name, value)) return i;
      if (Str(unit.record->id) == id) by_id = i;
    }
    return by_id;
  }

  bool fail_missing(const WantedModule& wanted) const {
    char text[420];
    TextWriter what(text, sizeof(text));
    what.put(wanted.option).put(" is not in this build: ");
    if (modules->state_of(wanted.name) == ModuleState::kRefused) {
      what.put("module ").put(wanted.name).put(" was refused");
    } else {
      what.put("no module ").put(wanted.name).put(" in ");
      modules->search().put_folders(&what);
    }
    return option_error(list, what.text(), error);
  }

  bool check_missing() const {
    for (uint32_t i = 0; i < names.count; ++i) {
      const WantedModule& wanted = names.items[i];
      if (!wanted.by_default && modules->state_of(wanted.name) != ModuleState::kOpen)
        return fail_missing(wanted);
    }
    return true;
  }

  bool choose_collectors() {
    if (!selects_profile(list)) add_selected("heap", "all");
    for (uint32_t i = 0; i < list.count(); ++i) {
      const OptionItem& item = list[i];
      if (item.replaced) continue;
      const bool profile = is_profile_selector(item.name);
      if (profile && selects_nothing(item.value)) continue;
      if (add_selected(item.name, item.value) || !profile) continue;
      char text[256];
      TextWriter what(text, sizeof(text));
      what.put(item.name).put(" option value must be ");
      put_known_values(item.name, &what);
      return option_error(list, what.text(), error);
    }
    return true;
  }

  void put_known_values(Str name, TextWriter* out) const {
    Str last;
    for (const Shipped& row : kShipped) {
      if (name != row.name || last == row.value) continue;
      out->put(row.value).put('|');
      last = row.value;
    }
    out->put(name == "monitor" ? "n" : "off");
  }

  // plugin=: collectors run; an encoder or a sink takes over, *encoder and *sink.
  bool choose_named(uint32_t* encoder, uint32_t* sink) {
    const OptionItem* item = list.find("plugin");
    Str rest(item == nullptr ? nullptr : item->value);
    Str name;
    while (next_part(&rest, '+', &name)) {
      bool found = false;
      for (uint32_t i = 0; i < modules->unit_count(); ++i) {
        if (Str(modules->unit(i).record->id) != name || !usable(modules->unit(i))) continue;
        found = true;
        const uint32_t kind = modules->unit(i).record->kind;
        if (kind == HPROF_UNIT_FILTER) continue;  // by its option only
        if (kind == HPROF_UNIT_COLLECTOR) {
          add_collector(i);
          continue;
        }
        uint32_t* place = kind == HPROF_UNIT_ENCODER ? encoder : sink;
        if (*place != kNone) {
          return option_error(list, kind == HPROF_UNIT_ENCODER ? "two encoders chosen" : "two sinks chosen",
                              error);
        }
        *place = i;
      }
      for (uint32_t i = 0; !found && i < modules->unit_count(); ++i) {
        const Unit& unit = modules->unit(i);
        if (Str(unit.module->record->name) == name && unit.record->kind == HPROF_UNIT_COLLECTOR)
          add_collector(i);
      }
    }
    return true;
  }

  bool choose_output(uint32_t kind, Str name, const char* default_value, Str id, uint32_t* place) {
    const OptionItem* item = list.find(name);
    if (*place != kNone) return true;
    *place = find_output(kind, name, item == nullptr ? Str(default_value) : Str(item->value), id);
    if (*place != kNone) return true;
    for (uint32_t i = 0; i < names.count; ++i) {
      const WantedModule& wanted = names.items[i];
      if (select_has_name(wanted.option, name) && modules->state_of(wanted.name) != ModuleState::kOpen) {
        return fail_missing(wanted);
      }
    }
    char text[160];
    TextWriter what(text, sizeof(text));
    what.put("no unit in this build does ").put(name).put('=').put_printable(default_value, 60);
    return option_error(list, what.text(), error);
  }

  bool choose_outputs() {
    uint32_t encoder = kNone;
    uint32_t sink = kNone;
    if (!choose_named(&encoder, &sink)) return false;
    const OptionItem* format = list.find("format");
    char id[kModuleNameMost + 1];
    TextWriter id_text(id, sizeof(id));
    id_text.put("encoder_").put(format == nullptr ? Str("ascii") : Str(format->value));
    if (!choose_output(HPROF_UNIT_ENCODER, "format", "a", id, &encoder)) return false;
    const bool net = list.find("net") != nullptr;
    if (!choose_output(HPROF_UNIT_SINK, net ? "net" : "file", "", net ? "sink_socket" : "sink_file", &sink))
      return false;
    selection->encoder = encoder;
    selection->sink = sink;
    modules->unit(encoder).runs = true;
    modules->unit(sink).runs = true;
    return choose_filter();
  }

  bool choose_filter() {
    const OptionItem* item = list.find("compress");
    if (item == nullptr) return true;
    selection->filter = kNone;
    if (!choose_output(HPROF_UNIT_FILTER, "compress", "", "filter_gzip", &selection->filter)) return false;
    modules->unit(selection->filter).runs = true;
    return true;
  }

  // Vendors' kinds are numbered at run time and notes may be skipped by any encoder: neither is for this
  // check.
  bool check_records() const {
    const uint64_t checked = ((1ull << HPROF_RECORD_VENDOR_FIRST) - 1) & ~HPROF_RECORD_BIT(HPROF_RECORD_NOTE);
    const hprof_unit& encoder = *modules->unit(selection->encoder).record;
    for (uint32_t i = 0; i < selection->collector_count; ++i) {
      const hprof_unit& unit = *modules->unit(selection->collectors[i]).record;
      if ((unit.records & checked & ~encoder.records) == 0) continue;
      char text[256];
      TextWriter what(text, sizeof(text));
      if (unit.select == nullptr) {
        what.put("plugin=").put(unit.id);
      } else {
        put_condensed(unit.select, &what);
      }
      const OptionItem* format = list.find("format");
      what.put(" is not supported with ");
      if (format != nullptr && select_matches(encoder.select, "format", format->value)) {
        what.put("format=").put_printable(format->value, 60);
      } else {
        what.put(encoder.id);
      }
      return option_error(list, what.text(), error);
    }
    return true;
  }

  void add_up() {
    for (uint32_t i = 0; i < modules->unit_count(); ++i) {
      const Unit& unit = modules->unit(i);
      if (!unit.runs) continue;
      selection->needs |= unit.record->needs;
      selection->wants |= unit.record->wants;
      selection->events |= unit.record->events;
    }
  }
};

}  // namespace

bool select_modules(const OptionList& list, ModuleNames* names, Error* error) {
  names->count = 0;
  for (uint32_t i = 0; i < list.count(); ++i) {
    const OptionItem& item = list[i];
    if (item.replaced || !is_profile_selector(item.name)) continue;
    if (!add_shipped(list, item.name, item.value, false, names, error)) return false;
  }
  if (!selects_profile(list) && !add_shipped(list, "heap", "all", false, names, error)) return false;
  const OptionItem* msa = list.find("msa");
  if (msa != nullptr && !add_shipped(list, "msa", msa->value, false, names, error)) return false;
  const OptionItem* plugin = list.find("plugin");
  if (plugin != nullptr && !add_plugins(list, plugin->value, names, error)) return false;
  const OptionItem* format = list.find("format");
  if (format != nullptr && !add_format(list, format->value, names, error)) return false;
  if (format == nullptr && !add_shipped(list, "format", "a", true, names, error)) return false;
  const OptionItem* compress = list.find("compress");
  if (compress != nullptr && !add_shipped(list, "compress", compress->value, false, names, error))
    return false;
  const OptionItem* net = list.find("net");
  const OptionItem* file = list.find("file");
  if (net != nullptr) return add_shipped(list, "net", net->value, false, names, error);
  return add_shipped(list, "file", file == nullptr ? "" : file->value, true, names, error);
}

bool choose_units(const OptionList& list, const ModuleNames& names, ModuleSet* modules, Selection* selection,
                  Error* error) {
  *selection = Selection();
  for (uint32_t i = 0; i < modules->unit_count(); ++i) modules->unit(i).runs = false;
  Chooser chooser = {list, names, modules, selection, error};
  if (!chooser.check_missing() || !chooser.choose_collectors() || !chooser.choose_outputs()) return false;
  if (!chooser.check_records()) return false;
  chooser.add_up();
  return true;
}

bool select_matches(const char* select, Str name, Str value) {
  Str rest(select);
  Str typed;
  while (next_part(&rest, '|', &typed)) {
    const size_t equals = typed.find('=');
    if (typed.part(0, equals) != name) continue;
    if (equals + 1 >= typed.size || typed.part(equals + 1) == value) return true;
  }
  return false;
}

bool select_has_name(const char* select, Str name) {
  Str rest(select);
  Str typed;
  while (next_part(&rest, '|', &typed)) {
    if (typed.part(0, typed.find('=')) == name) return true;
  }
  return false;
}

void put_selector_values(const ModuleSet& modules, Str name, TextWriter* out) {
  char text[256];
  TextWriter seen(text, sizeof(text));
  const auto add = [&](Str value) {
    Str rest = seen.text();
    Str known;
    while (next_part(&rest, '|', &known)) {
      if (known == value) return;
    }
    if (seen.size() != 0) seen.put('|');
    seen.put(value);
  };
  // The shipped ones first and in the original's order, when they are there.
  for (const Shipped& row : kShipped) {
    if (name != row.name || row.value == nullptr) continue;
    for (uint32_t i = 0; i < modules.unit_count(); ++i) {
      if (select_matches(modules.unit(i).record->select, name, row.value)) add(row.value);
    }
  }
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    Str rest(modules.unit(i).record->select);
    Str typed;
    while (next_part(&rest, '|', &typed)) {
      const size_t equals = typed.find('=');
      if (typed.part(0, equals) == name && equals + 1 < typed.size) add(typed.part(equals + 1));
    }
  }
  if (is_profile_selector(name)) add(name == "monitor" ? "n" : "off");
  out->put(seen.text());
}

bool selects_shipped(Str name) {
  for (const Shipped& row : kShipped) {
    if (name == row.name) return true;
  }
  return false;
}

const char* shipped_module(uint32_t index) {
  uint32_t number = 0;
  for (size_t i = 0; i < sizeof(kShipped) / sizeof(kShipped[0]); ++i) {
    bool first = true;
    for (size_t j = 0; j < i; ++j) first = first && Str(kShipped[j].module) != kShipped[i].module;
    if (first && number++ == index) return kShipped[i].module;
  }
  return nullptr;
}

}  // namespace hprof
