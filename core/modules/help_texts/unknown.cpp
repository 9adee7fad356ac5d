#include "core/modules/help_texts/unknown.h"

#include "core/base/build.h"
#include "core/base/text_tools.h"
#include "core/option/core_options.h"
#include "core/option/shipped.h"
#include "core/plugin/option_row.h"

namespace hprof {

namespace {

// Options whose values are file names, which may contain a typed comma.
constexpr Str kFileOptions[] = {"file", "control", "secret-file", "plugins"};

// Options of earlier versions, and what replaces them: one text, since pointers would need relocations.
constexpr char kGone[] =
    "addresses=use hotspot=-object-addresses;http-buffer=use memory-limit=;http-timeout=use net-timeout=;"
    "listen-remote=listen= takes any address;max-nodes=use max-memory=;net-secret-file=use secret-file=;"
    "park-interval=use interval=;raw-names=hidden classes have stable names;segment=a segment has 1 MiB, or "
    "what memory is left;sites-order=use "
    "sites-live=n or the command sites alloc;sites-walk=use hotspot=-frame-walk;times=use clock=cpu or "
    "clock=wall;"
    "times-counter=clock=wall chooses the clock;times-interval=use interval=";

Str what_says_it_now(Str name) {
  Str rest(kGone), row;
  while (next_part(&rest, ';', &row)) {
    if (row.size > name.size && row[name.size] == '=' && row.part(0, name.size) == name)
      return row.part(name.size + 1);
  }
  return Str();
}

// Calls visit(name) for each option that users may type, without those for developers.
template <typename Visit>
void each_name(const ModuleSet& modules, Visit visit) {
  visit(Str("help"));
  for (uint32_t group = 0; group < kCoreGroups; ++group) {
    if (static_cast<CoreGroup>(group) == CoreGroup::kDebug) continue;
    const OptionTable table = core_options(static_cast<CoreGroup>(group));
    for (uint32_t i = 0; i < table.count; ++i) visit(Str(table[i].name));
  }
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    const OptionTable table = options_of(*modules.unit(i).record);
    for (uint32_t j = 0; j < table.count; ++j) {
      if (find_core_option(table[j].name) == nullptr) visit(Str(table[j].name));
    }
  }
}

// Small builds only list the names.
Str closest(const ModuleSet& modules, Str typed) {
  if (kEmbedded) return Str();
  uint32_t best = typed.size <= 3 ? 1 : 2;
  Str found;
  each_name(modules, [&](Str name) {
    const uint32_t distance = name_distance(typed, name, best);
    if (distance > best || (distance == best && !found.empty())) return;
    found = name;
    best = distance;
  });
  return found;
}

// The option before the item, if the item is probably the rest of that option's value, after a comma.
Str torn_value(const OptionList& list, const OptionItem& item) {
  for (uint32_t i = 1; i < list.count() && !item.has_value; ++i) {
    if (&list[i] != &item) continue;
    for (Str name : kFileOptions) {
      if (list[i - 1].name == name && list[i - 1].has_value) return name;
    }
  }
  return Str();
}

// Appends as many whole names as there is room for.
void put_names(const ModuleSet& modules, size_t room, TextWriter* out) {
  constexpr Str kMore = " and more, see help";
  bool cut = false;
  out->put("; options are:");
  each_name(modules, [&](Str name) {
    cut = cut || out->size() + 1 + name.size + kMore.size > room;
    if (!cut) out->put(' ').put(name);
  });
  if (cut) out->put(kMore);
}

}  // namespace

bool unknown_option_error(const OptionList& list, const ModuleSet& modules, const OptionItem& item,
                          Error* error) {
  constexpr size_t kRest = 340;  // for the line's text before the names
  char text[128];
  TextWriter what(text, sizeof(text));
  what.put("Unknown option: ").put_printable(item.name, 60);
  char hint[sizeof(error->text) - kRest];
  TextWriter after(hint, sizeof(hint));
  const Str file = torn_value(list, item);
  const Str instead = what_says_it_now(item.name);
  const Str name = closest(modules, item.name);
  if (!instead.empty()) {
    after.put("; ").put(instead);
  } else if (!file.empty()) {
    after.put("; the value of ").put(file).put("= cannot have a comma in it");
  } else if (!name.empty()) {
    after.put("; did you mean ").put(name).put("? `hprof run help -- java` lists all options");
  } else {
    put_names(modules, sizeof(hint) - 1, &after);
  }
  return option_error(list, what.text(), error, after.text());
}

}  // namespace hprof
