// The headers of all services, and the file that defines each table.
#pragma once

#include <hprof/draft/bytecode.h>
#include <hprof/draft/class_file.h>
#include <hprof/draft/code.h>
#include <hprof/draft/foreign_dump.h>
#include <hprof/draft/library.h>
#include <hprof/draft/machine.h>
#include <hprof/draft/objects.h>
#include <hprof/draft/output.h>
#include <hprof/draft/sampling.h>
#include <hprof/draft/thread_context.h>
#include <hprof/draft/vm_counts.h>
#include <hprof/draft/vm_dump.h>
#include <hprof/draft/vm_flags.h>
#include <hprof/draft/walk.h>
#include <hprof/draft/weaks.h>
#include <hprof/service/accounting.h>
#include <hprof/service/allocations.h>
#include <hprof/service/calls.h>
#include <hprof/service/clock.h>
#include <hprof/service/context.h>
#include <hprof/service/emit.h>
#include <hprof/service/exceptions.h>
#include <hprof/service/ids.h>
#include <hprof/service/io.h>
#include <hprof/service/jvm.h>
#include <hprof/service/log.h>
#include <hprof/service/mem.h>
#include <hprof/service/probes.h>
#include <hprof/service/threads.h>

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
