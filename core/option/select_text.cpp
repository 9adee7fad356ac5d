// The `select` texts of units.
#include "core/option/select_text.h"

#include "core/option/core_options.h"
#include "core/option/shipped.h"
#include "core/plugin/option_row.h"

namespace hprof {
namespace {

// Calls visit(name, value) for each alternative until it returns true; `value` may be empty.
template <class Visit>
bool any_alternative(const char* select, Visit visit) {
  Str rest(select);
  Str typed;
  while (next_part(&rest, '|', &typed)) {
    const size_t equals = typed.find('=');
    if (visit(typed.part(0, equals), typed.part(equals + 1))) return true;
  }
  return false;
}

// A list of values, each once.
class Values {
 public:
  void add(Str value) {
    Str rest = seen_.text();
    Str known;
    while (next_part(&rest, '|', &known)) {
      if (known == value) return;
    }
    if (seen_.size() != 0) seen_.put('|');
    seen_.put(value);
  }
  Str text() const { return seen_.text(); }

 private:
  char text_[512];
  TextWriter seen_{text_, sizeof(text_)};
};

// False: it is a pattern, or empty.
bool is_value(Str value) { return !value.empty() && value[value.size - 1] != '*'; }

// A pattern is shown as the unit's own row spells its values.
Str shown(const hprof_unit& unit, Str name, Str value) {
  if (is_value(value)) return value;
  const hprof_option* row = options_of(unit).find(name);
  return row != nullptr && row->value_text != nullptr ? Str(row->value_text) : value;
}

bool offers(const ModuleSet& modules, Str name, Str value) {
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    if (select_matches(modules.unit(i).record->select, name, value)) return true;
  }
  return false;
}

}  // namespace

bool matches_pattern(Str pattern, Str value) {
  if (pattern.empty() || pattern[pattern.size - 1] != '*') return value == pattern;
  const Str start = pattern.part(0, pattern.size - 1);
  return value.part(0, start.size) == start;
}

bool select_matches(const char* select, Str name, Str value) {
  return any_alternative(select, [&](Str option, Str pattern) {
    return option == name && (pattern.empty() || matches_pattern(pattern, value));
  });
}

bool select_has_name(const char* select, Str name) {
  return any_alternative(select, [&](Str option, Str) { return option == name; });
}

void put_selector_values(const ModuleSet& modules, Str name, TextWriter* out) {
  Values values;
  // The shipped ones first and in the original's order, when they are there.
  Shipped row;
  for (Str rest = shipped_rows(); next_shipped(&rest, &row);) {
    if (row.name == name && is_value(row.value) && offers(modules, name, row.value)) values.add(row.value);
  }
  for (uint32_t i = 0; i < modules.unit_count(); ++i) {
    const hprof_unit& unit = *modules.unit(i).record;
    any_alternative(unit.select, [&](Str option, Str value) {
      if (option == name && !value.empty()) values.add(shown(unit, name, value));
      return false;
    });
    // An encoder without a select text is chosen by its id.
    const Str id(unit.id);
    if (name == "format" && unit.kind == HPROF_UNIT_ENCODER && !select_has_name(unit.select, name))
      values.add(id.part(0, kEncoderPrefix.size) == kEncoderPrefix ? id.part(kEncoderPrefix.size) : id);
  }
  if (is_profile_selector(name)) {
    const char* preset = find_core_option(name)->default_text;
    values.add(selects_nothing(preset) ? preset : "off");
  }
  out->put(values.text());
}

void put_condensed(const char* select, TextWriter* out) {
  Str last;
  any_alternative(select, [&](Str name, Str value) {
    if (!last.empty()) out->put('|');
    if (name != last) {
      out->put(name);
      if (!value.empty()) out->put('=');
    }
    out->put(value);
    last = name;
    return false;
  });
}

}  // namespace hprof
