// Modules of the core's own: libraries that the core opens when a run needs them. Each has one unit, which no
// option selects, and a table of C++ functions. They work with the core of their build only, outside of the
// plugin ABI.
#pragma once

#include <hprof/plugin.h>

namespace hprof {

constexpr uint32_t kUnitOfCore = UINT32_MAX;  // a kind beside HPROF_UNIT_*

// The head of every table.
struct CoreTable {
  uint32_t size;
  uint32_t version;  // changes with the table or its meaning
};

constexpr hprof_unit core_unit(const char* id, const char* summary, const void* table) {
  hprof_unit unit = {};
  unit.size = sizeof(hprof_unit);
  unit.kind = kUnitOfCore;
  unit.id = id;
  unit.summary = summary;
  unit.ops = table;
  return unit;
}

}  // namespace hprof
