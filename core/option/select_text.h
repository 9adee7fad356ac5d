// The `select` texts of units: which options, as typed, select them.
#pragma once

#include "core/base/text.h"
#include "core/plugin/module_set.h"

namespace hprof {

// True: the value matches the pattern; a '*' at its end stands for anything. [any]
bool matches_pattern(Str pattern, Str value);

// Does "a=x|b=y*|c" select for option `name` with `value`? "c" alone takes any value. `select` may be
// nullptr. [any]
bool select_matches(const char* select, Str name, Str value);
// True: it has an alternative for option `name`.
bool select_has_name(const char* select, Str name);

// The values of a selector that the opened modules offer: "dump|sites|all|off". Empty: not a selector, or one
// that takes any value. [any]
void put_selector_values(const ModuleSet& modules, Str name, TextWriter* out);

// "cpu=times|old" for one option of a select text, as the original spells it. [any]
void put_condensed(const char* select, TextWriter* out);

}  // namespace hprof
