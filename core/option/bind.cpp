// Stores options in config structs.
#include "core/option/bind.h"

#include "core/base/value.h"
#include "core/option/select_text.h"
#include "core/option/shipped.h"
#include "core/protocol/control_address.h"
#include "core/vm_tables/items.h"

namespace hprof {
namespace {

// A config struct for checking the options of a unit that does not run.
struct Scratch {
  alignas(16) unsigned char bytes[kConfigBytesMost];
};

bool bind_row(const OptionList& list, const hprof_option& row, const OptionItem& item, void* config,
              Error* error) {
  char text[256];
  TextWriter what(text, sizeof(text));
  what.put(item.name).put(" option value must be ");
  return store_option_value(row, item.value, config, &what) || option_error(list, what.text(), error);
}

bool bind_table(const OptionList& list, const OptionTable& table, void* config, uint32_t* bound,
                Error* error) {
  for (uint32_t i = 0; i < table.count; ++i) {
    const OptionItem* item = list.find(table[i].name);
    if (item == nullptr) continue;
    if (!bind_row(list, table[i], *item, config, error)) return false;
    ++*bound;
  }
  return true;
}

bool bind_core_rows(const OptionList& list, CoreConfig* core, Error* error) {
  memset(core, 0, sizeof(*core));
  char said[kOptionTextMost];
  const OptionTable table = all_core_options();
  for (uint32_t i = 0; i < table.count; ++i) {
    TextWriter problem(said, sizeof(said));
    if (table[i].default_text != nullptr) store_option_value(table[i], table[i].default_text, core, &problem);
  }
  uint32_t bound = 0;
  return bind_table(list, table, core, &bound, error);
}

// True: host:port or [v6]:port, the port from 1 to 65535. The sink finds out whether the host exists.
bool is_address(Str text) {
  size_t colon = text.size;
  for (size_t i = 0; i < text.size; ++i) {
    if (text[i] == ':') colon = i;
  }
  int64_t port = 0;
  const Str digits = text.part(colon + 1);
  if (digits.empty() || digits[0] == '+' || !parse_decimal(digits, &port)) return false;
  return colon != 0 && port >= 1 && port <= 65535;
}

// Checks that a listening port has a secret.
bool check_control(const OptionList& list, CoreConfig* core, Error* error) {
  bool listens = core->listen != nullptr && core->listen[0] != '\0';
  if (core->control == nullptr && core->start == 0 && core->net == nullptr && !listens) {
    core->control = "y";
    core->control_implied = 1;
  }
  if (core->control != nullptr && core->control[0] == '\0') {
    return option_error(list, "control option value must be a path, y or n", error);
  }
  if (core->listen == nullptr) return true;
  if (!is_address(core->listen))
    return option_error(list, "listen option value must be hostname:port", error);
  if (core->secret_file == nullptr || core->secret_file[0] == '\0') {
    return option_error(list, "listen option needs secret-file=<file>", error);
  }
  return true;
}

bool check_items(const OptionList& list, CoreConfig* core, Error* error) {
  char text[400];
  TextWriter what(text, sizeof(text));
  what.put("hotspot option value must be ");
  ItemChoice items;
  if (!parse_items(core->hotspot, &items, &what)) return option_error(list, what.text(), error);
  core->hotspot_on = items.on;
  core->hotspot_off = items.off;
  return true;
}

bool check_core(const OptionList& list, CoreConfig* core, const Messages& messages, Error* error) {
  if (core->file != nullptr && core->file[0] == '\0') {
    return option_error(list, "syntax error parsing file=filename", error);
  }
  if (core->net != nullptr && core->net[0] != '/' && !is_address(core->net)) {
    return option_error(list, "net option value must be hostname:port", error);
  }
  // Labels become parts of requests and of lines.
  for (const char* at = core->labels; at != nullptr && *at != '\0'; at++) {
    if (static_cast<unsigned char>(*at) < ' ')
      return option_error(list, "labels option value must have no control characters", error);
  }
  if (core->depth > kDepthMost) {
    char text[128];
    TextWriter out(text, sizeof(text));
    out.put("depth=").put_unsigned(static_cast<uint64_t>(core->depth)).put(" is cut to ");
    out.put_unsigned(static_cast<uint64_t>(kDepthMost));
    messages.message(text);
    core->depth = kDepthMost;
  }
  return check_items(list, core, error) && check_control(list, core, error);
}

void say_without_effect(const Unit& unit, const OptionItem& item, const Messages& messages) {
  char text[256];
  TextWriter out(text, sizeof(text));
  out.put_printable(item.name, 60).put('=').put_printable(item.value, 60).put(" has no effect: ");
  out.put(unit.record->id).put(" does not run");
  messages.detail(text);
}

bool bind_unit(const OptionList& list, ModuleSet* modules, Unit* unit, Error* error) {
  const OptionTable table = options_of(*unit->record);
  const uint32_t bytes = unit->record->config_size;
  unit->config = modules->config_memory(bytes);
  if (unit->config == nullptr)
    return option_error(list, "the plugins' config structs take more than 64 KiB", error);
  store_option_defaults(table, unit->config, bytes);
  uint32_t bound = 0;
  return bind_table(list, table, unit->config, &bound, error);
}

// True: the option selects a running unit, or is its own, so it is not that of others with a row of its name.
bool is_anothers(const OptionItem& item, ModuleSet& modules) {
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    const Unit& unit = modules.unit(i);
    if (unit.runs && (select_has_name(unit.record->select, item.name) ||
                      options_of(*unit.record).find(item.name) != nullptr))
      return true;
  }
  return false;
}

bool check_unit(const OptionList& list, ModuleSet& modules, const Unit& unit, const Messages& messages,
                Error* error) {
  Scratch scratch;
  const OptionTable table = options_of(*unit.record);
  for (uint32_t i = 0; i < table.count; ++i) {
    const OptionItem* item = list.find(table[i].name);
    if (item == nullptr || find_core_option(item->name) != nullptr) continue;
    if (is_anothers(*item, modules)) continue;
    if (!bind_row(list, table[i], *item, scratch.bytes, error)) return false;
    say_without_effect(unit, *item, messages);
  }
  return true;
}

bool is_known(Str name, const ModuleSet& modules) {
  // A later message names the missing module.
  if (find_core_option(name) != nullptr || selects_shipped(name)) return true;
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    const hprof_unit& unit = *modules.unit(i).record;
    if (options_of(unit).find(name) != nullptr || select_has_name(unit.select, name)) return true;
  }
  return false;
}

void say_replaced(const OptionList& list, const Messages& messages) {
  for (uint32_t i = 0; i < list.count(); ++i) {
    if (!list[i].replaced) continue;
    char text[320];
    TextWriter out(text, sizeof(text));
    out.put_printable(list[i].name, 60).put('=').put_printable(list[i].value, 80).put(" is replaced by ");
    out.put(kOptionEnvironment);
    messages.detail(text);
  }
}

}  // namespace

const OptionItem* first_unknown_option(const OptionList& list, const ModuleSet& modules) {
  for (uint32_t i = 0; i < list.count(); ++i) {
    if (!is_known(list[i].name, modules)) return &list[i];
  }
  return nullptr;
}

bool bind_core(const OptionList& list, CoreConfig* core, const Messages& messages, Error* error) {
  if (!bind_core_rows(list, core, error) || !check_core(list, core, messages, error)) return false;
  say_replaced(list, messages);
  return true;
}

bool bind_units(const OptionList& list, ModuleSet* modules, const Messages& messages, Error* error) {
  for (uint32_t i = 0; i < modules->unit_count(); ++i) {
    Unit& unit = modules->unit(i);
    if (!(unit.runs ? bind_unit(list, modules, &unit, error)
                    : check_unit(list, *modules, unit, messages, error)))
      return false;
  }
  return true;
}

}  // namespace hprof
