// The headers of all services, and the tables that services.cpp does not define itself.
#pragma once

#include <hprof/draft/class_file.h>
#include <hprof/draft/code.h>
#include <hprof/draft/foreign_dump.h>
#include <hprof/draft/library.h>
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
#include <hprof/service/clock.h>
#include <hprof/service/context.h>
#include <hprof/service/emit.h>
#include <hprof/service/ids.h>
#include <hprof/service/io.h>
#include <hprof/service/jvm.h>
#include <hprof/service/log.h>
#include <hprof/service/machine.h>
#include <hprof/service/mem.h>
#include <hprof/service/probes.h>
#include <hprof/service/threads.h>

namespace hprof {

extern const hprof_ids_service kIdsService;          // services_ids.cpp
extern const hprof_threads_service kThreadsService;  // services_threads.cpp, as the next three
extern const hprof_context_service kContextService;
extern const hprof_accounting_service kAccountingService;
extern const hprof_sampling_service kSamplingService;
extern const hprof_io_service kIoService;                 // services_io.cpp
extern const hprof_probes_service kProbesService;         // services_probes.cpp
extern const hprof_class_file_service kClassFileService;  // class_files.cpp
extern const hprof_library_service kLibraryService;       // services_library.cpp
extern const hprof_vm_flags_service kVmFlagsService;      // services_hotspot.cpp, as the next
extern const hprof_code_service kCodeService;

}  // namespace hprof
