// The modules of this project by the options that select them.
#include "core/option/shipped.h"

#include <initializer_list>

#include "core/option/core_options.h"
#include "core/option/select_text.h"
#include "core/plugin/option_row.h"

namespace hprof {
namespace {

// Several rows may match an option.
constexpr Shipped kShipped[] = {
    {"heap", "dump", "heap_dump"},        {"heap", "sites", "heap_sites"},
    {"heap", "all", "heap_dump"},         {"heap", "all", "heap_sites"},
    {"cpu", "samples", "cpu_samples"},    {"cpu", "times", "cpu_times"},
    {"cpu", "old", "cpu_times"},          {"cpu", "y", "cpu_samples"},
    {"monitor", "y", "monitor"},          {"monitor", "all", "monitor"},
    {"format", "a", "encoder_ascii"},     {"format", "b", "encoder_binary"},
    {"net", nullptr, "sink_socket"},      {"file", nullptr, "sink_file"},
    {"compress", "gzip*", "filter_gzip"}, {"msa", "y", "msa"},
    {"jvmpi", nullptr, "jvmpi"},          {"url", nullptr, "sink_http"},
};

bool add_module(const OptionList& list, Str module, Str option, Wanted why, ModuleNames* names,
                Error* error) {
  if (names->has(module)) return true;
  if (names->count == kModulesMost) return option_error(list, "too many modules asked for", error);
  WantedModule& added = names->items[names->count++];
  TextWriter(added.name, sizeof(added.name)).put(module);
  TextWriter(added.option, sizeof(added.option)).put_printable(option, 80);
  added.why = why;
  return true;
}

bool add_shipped(const OptionList& list, Str name, Str value, Wanted why, ModuleNames* names, Error* error) {
  char text[96];
  TextWriter option(text, sizeof(text));
  option.put(name).put('=').put(value.part(0, 60));
  for (const Shipped& row : kShipped) {
    if (serves(row, name, value) && !add_module(list, row.module, option.text(), why, names, error))
      return false;
  }
  return true;
}

bool add_format(const OptionList& list, Str value, ModuleNames* names, Error* error) {
  if (names_shipped("format", value)) return add_shipped(list, "format", value, Wanted::kAsked, names, error);
  // The name becomes a part of a path, so only a plain name reaches the loader. Any other is no format.
  if (!is_plain_name(value, kModuleNameMost - kEncoderPrefix.size, false)) return true;
  char module[kModuleNameMost + 1];
  char option[96];
  TextWriter(module, sizeof(module)).put(kEncoderPrefix).put(value);
  TextWriter(option, sizeof(option)).put("format=").put(value);
  return add_module(list, module, option, Wanted::kGuessed, names, error);
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
    if (!add_module(list, name, option, Wanted::kGuessed, names, error)) return false;
  }
  return true;
}

// True: heap=all applies, since no other profile is chosen so far.
bool may_be_default(const OptionList& list) {
  for (const char* name : {"heap", "cpu", "monitor", "jvmpi"}) {
    const OptionItem* item = list.find(name);
    if (item != nullptr && (name == Str("heap") || !selects_nothing(item->value))) return false;
  }
  return list.find("plugin") == nullptr;
}

}  // namespace

bool add_default_profile(const OptionList& list, ModuleNames* names, Error* error) {
  return add_shipped(list, "heap", "all", Wanted::kByDefault, names, error);
}

bool select_modules(const OptionList& list, ModuleNames* names, Error* error) {
  names->count = 0;
  for (const char* name : {"heap", "cpu", "monitor", "msa", "jvmpi", "compress"}) {
    const OptionItem* item = list.find(name);
    if (item == nullptr || selects_nothing(item->value)) continue;
    if (!add_shipped(list, name, item->value, Wanted::kAsked, names, error)) return false;
  }
  if (may_be_default(list) && !add_default_profile(list, names, error)) return false;
  const OptionItem* plugin = list.find("plugin");
  if (plugin != nullptr && !add_plugins(list, plugin->value, names, error)) return false;
  const OptionItem* format = list.find("format");
  if (format != nullptr && !add_format(list, format->value, names, error)) return false;
  if (format == nullptr && !add_shipped(list, "format", "a", Wanted::kByDefault, names, error)) return false;
  for (const char* name : {"url", "net"}) {
    const OptionItem* item = list.find(name);
    if (item != nullptr) return add_shipped(list, name, item->value, Wanted::kAsked, names, error);
  }
  return add_shipped(list, "file", "", Wanted::kByDefault, names, error);
}

bool selects_shipped(Str name) {
  for (const Shipped& row : kShipped) {
    if (name == row.name) return true;
  }
  return false;
}

bool names_shipped(Str name, Str value) {
  for (const Shipped& row : kShipped) {
    if (serves(row, name, value)) return true;
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

void know_core(ModuleSearch* search) {
  search->shipped = &shipped_module;
  search->is_core_option = [](Str name) { return find_core_option(name) != nullptr; };
}

bool serves(const Shipped& row, Str name, Str value) {
  return name == row.name && (row.value == nullptr || matches_pattern(row.value, value));
}

const Shipped* shipped_rows(size_t* count) {
  *count = sizeof(kShipped) / sizeof(kShipped[0]);
  return kShipped;
}

}  // namespace hprof
