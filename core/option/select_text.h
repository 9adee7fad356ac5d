// The `select` texts of units: the options that select them.
#pragma once

#include "core/base/text.h"
#include "core/plugin/module_set.h"

namespace hprof {

// True: the value matches the pattern; '*' at its end stands for any text. [any]
bool matches_pattern(Str pattern, Str value);

// True: "a=x|b=y*|c" selects for option `name` with `value`. "c" alone takes any value. `select` may be
// nullptr. [any]
bool select_matches(const char* select, Str name, Str value);
// True: an alternative is for option `name`.
bool select_has_name(const char* select, Str name);

// Appends the values of a selector that the opened modules offer: "dump|sites|all|off". Nothing: no
// selector, or one that takes any value. [any]
void put_selector_values(const ModuleSet& modules, Str name, TextWriter* out);

// Appends "name=one|two" for one option of a select text, in the original's spelling. [any]
void put_condensed(const char* select, TextWriter* out);

}  // namespace hprof
