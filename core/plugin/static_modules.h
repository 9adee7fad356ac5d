// The modules that are linked into libhprof: a table that CMake makes (static_modules.cpp.in).
#pragma once

#include <hprof/plugin.h>

namespace hprof {

struct StaticModule {
  const char* name;  // nullptr ends the table
  hprof_module_entry entry;
};

const StaticModule* static_modules();

}  // namespace hprof
