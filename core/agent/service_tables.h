// The service tables, and the file that defines each.
#pragma once

namespace hprof {

const void* ids_service();       // services_ids.cpp
const void* threads_service();   // services_threads.cpp
const void* context_service();   // services_threads.cpp
const void* sampling_service();  // services_threads.cpp; nullptr: the platform has no CPU timers
const void* io_service();        // services_io.cpp
const void* probes_service();    // services_bytecode.cpp, as the next four; nullptr: the build has no probes
const void* exceptions_service();
const void* allocations_service();
const void* calls_service();
const void* bytecode_service();
const void* class_file_service();  // class_files.cpp
const void* library_service();     // services_library.cpp; nullptr: the build loads no modules
const void* vm_flags_service();    // services_hotspot.cpp
const void* code_service();        // services_hotspot.cpp
const void* accounting_service();  // services_threads.cpp

}  // namespace hprof
