// The services of units in builds with checks: each call is checked first.
#pragma once

#include <hprof/service/mem.h>

namespace hprof {

// The checking table for service `id`; nullptr stays nullptr. [any] but [signal]
const void* checked_service(const char* id, const void* table);

// Replaces the functions of the mem service by ones that guard each block and record its unit.
// checked_memory.cpp
void guard_memory(hprof_mem_service* table);

}  // namespace hprof
