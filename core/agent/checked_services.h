// The services as units get them in builds with checks: each call is looked at first.
#pragma once

#include <hprof/service/mem.h>

namespace hprof {

// The table to give out instead of `table`, which is that of the service `id`; nullptr stays. [any] but
// [signal]
const void* checked_service(const char* id, const void* table);

// Makes of the mem service one whose blocks have guards, and whose units are known. checked_memory.cpp
void guard_memory(hprof_mem_service* table);

}  // namespace hprof
