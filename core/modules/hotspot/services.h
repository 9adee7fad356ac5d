// The service tables of the module, and the file that defines each.
#pragma once

namespace hprof {

const void* objects_service();         // services.cpp
const void* thread_context_service();  // services.cpp
const void* vm_counts_service();       // services.cpp
const void* vm_dump_service();         // vm_dump.cpp
const void* walk_service();            // services.cpp
const void* weaks_service();           // services.cpp

}  // namespace hprof
