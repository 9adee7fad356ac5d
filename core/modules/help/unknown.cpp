#include "core/modules/help/unknown.h"

#include "core/base/build.h"
#include "core/option/core_options.h"
#include "core/option/option_row.h"
#include "core/option/shipped.h"

namespace hprof {

namespace {

constexpr size_t kLongestName = 32;
// Options whose values are names of files, which may be typed with a comma in them.
constexpr Str kFileOptions[] = {"file", "control", "secret-file", "plugins"};

// Options of earlier versions, and what says the same now: one text, since pointers would need relocations.
constexpr char kGone[] =
    "addresses=use hotspot=-object-addresses;listen-remote=listen= takes any address;"
    "max-nodes=use max-memory=;park-interval=use interval=;sites-walk=use hotspot=-frame-walk;"
    "times-counter=times=clock chooses the clock;times-interval=use interval=";

Str what_says_it_now(Str name) {
  Str rest(kGone), row;
  while (next_part(&rest, ';', &row)) {
    if (row.size > name.size && row[name.size] == '=' && row.part(0, name.size) == name)
      return row.part(name.size + 1);
  }
  return Str();
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// visit(name) for each option that may be typed, the developers' left out.
template <typename Visit>
void each_name(const ModuleSet& modules, Visit visit) {
  visit(Str("help"));
  for (uint32_t group = 0; group + 1 < kCoreGroups; ++group) {
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

// Small builds list the names without a guess.
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

// The option before it, if the item is probably a part of its value after a comma.
Str torn_value(const OptionList& list, const OptionItem& item) {
  for (uint32_t i = 1; i < list.count() && !item.has_value; ++i) {
    if (&list[i] != &item) continue;
    for (Str name : kFileOptions) {
      if (list[i - 1].name == name && list[i - 1].has_value) return name;
    }
  }
  return Str();
}

// As many as there is room for, whole.
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

uint32_t name_distance(Str one, Str other, uint32_t most) {
  if (one.size > kLongestName || other.size > kLongestName) return most + 1;
  // Rows of the table of all beginnings: this one and the two before it.
  uint32_t rows[3][kLongestName + 1];
  for (size_t j = 0; j <= other.size; ++j) rows[0][j] = static_cast<uint32_t>(j);
  for (size_t i = 1; i <= one.size; ++i) {
    uint32_t* row = rows[i % 3];
    const uint32_t* above = rows[(i - 1) % 3];
    row[0] = static_cast<uint32_t>(i);
    for (size_t j = 1; j <= other.size; ++j) {
      const bool same = lower(one[i - 1]) == lower(other[j - 1]);
      row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (same ? 0 : 1));
      const bool swapped = i > 1 && j > 1 && lower(one[i - 1]) == lower(other[j - 2]) &&
                           lower(one[i - 2]) == lower(other[j - 1]);
      if (swapped) row[j] = least(row[j], rows[(i - 2) % 3][j - 2] + 1);
    }
  }
  return least(rows[one.size % 3][other.size], most + 1);
}

bool unknown_option_error(const OptionList& list, const ModuleSet& modules, const OptionItem& item,
                          Error* error) {
  constexpr size_t kRest = 340;  // of the line, for what stands before the names
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
    after.put("; did you mean ").put(name).put("? help lists all options");
  } else {
    put_names(modules, sizeof(hint) - 1, &after);
  }
  return option_error(list, what.text(), error, after.text());
}

}  // namespace hprof
