// The service tables, and the file that defines each.
#pragma once

namespace hprof {

const void* ids_service();         // services_ids.cpp
const void* threads_service();     // services_threads.cpp
const void* sampling_service();    // services_threads.cpp; nullptr: the platform has no CPU timers
const void* io_service();          // services_io.cpp
const void* bytecode_service();    // services_bytecode.cpp
const void* class_file_service();  // class_files.cpp
const void* library_service();     // services_library.cpp; nullptr: the build loads no modules
const void* vm_flags_service();    // services_hotspot.cpp
const void* code_service();        // services_hotspot.cpp
const void* accounting_service();  // services_threads.cpp

}  // namespace hprof
