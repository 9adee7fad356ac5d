// Checks that a library returned a module that this agent can run, by its records only; no function of it is
// called.
#pragma once

#include <hprof/plugin.h>

#include "core/base/text.h"
#include "core/plugin/core_module.h"

namespace hprof {

constexpr uint32_t kUnitsPerModule = 32;
constexpr size_t kUnitIdMost = 63;
constexpr size_t kSelectMost = 255;

// What the core offers to an entry function.
hprof_offer make_offer();

// expected_name: of the file or of the table entry. False: *reason continues the sentence "it ...". [any]
bool verify_module(const hprof_module* module, Str expected_name, TextWriter* reason);

// One unit by itself; verify_module has not called it. [any]
bool verify_unit(const hprof_unit* unit, TextWriter* reason);

}  // namespace hprof
