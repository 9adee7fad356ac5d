// Modules of the core's own: each is a library that the core opens when a run needs it, has one unit that no
// option selects, and a table of functions in C++. They are of one build with the core, not a part of the
// plugin ABI.
#pragma once

#include <hprof/plugin.h>

namespace hprof {

constexpr uint32_t kUnitOfCore = 4;  // a kind beside HPROF_UNIT_*

// Every table begins with it.
struct CoreTable {
  uint32_t size;
  uint32_t version;  // changes with the table or with what it means
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
