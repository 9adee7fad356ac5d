// Checks that this agent can run a module, by its records only: no function of the module is called.
#pragma once

#include <hprof/plugin.h>

#include "core/base/text.h"
#include "core/plugin/core_module.h"

namespace hprof {

constexpr uint32_t kUnitsPerModule = 32;
constexpr size_t kUnitIdMost = 63;
constexpr size_t kSelectMost = 255;
// Bits with a meaning.
constexpr uint64_t kKnownNeeds = (1ull << HPROF_NEED_COUNT) - 1;

// The offer that entry functions get.
hprof_offer make_offer();

// Checks what the record says of itself: version, layout, name, number of units. The same parameters as
// verify_module. [any]
bool verify_record(const hprof_module* module, Str expected_name, TextWriter* reason);

// Checks the record and its units. expected_name: of the file or the table entry. False: *reason continues
// the sentence "it ...". [any]
bool verify_module(const hprof_module* module, Str expected_name, TextWriter* reason);

// Checks one unit. [any]
bool verify_unit(const hprof_unit* unit, TextWriter* reason);

// hprof_unit.optional; nullptr: none, or a unit of older headers.
inline const char* const* optional_of(const hprof_unit* unit) {
  return HPROF_HAS(unit, hprof_unit, optional) ? unit->optional : nullptr;
}

}  // namespace hprof
