// The services vm_flags and code.
#include "core/agent/services/service_tables.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

const hprof_vm_flags_service kVmFlagsService = {
    sizeof(hprof_vm_flags_service),
    0,
    [](const hprof_host* host, const char* name, void* value, uint32_t size) {
      return hotspot_of(host).flags().read(name, value, size) ? 1u : 0u;
    },
};

const hprof_code_service kCodeService = {
    sizeof(hprof_code_service),
    0,
    [](const hprof_host* host) { return hotspot_of(host).use_precise_code() ? 1u : 0u; },
    [](const hprof_host* host) { return hotspot_of(host).async_get_call_trace(); },
    [](const hprof_host* host, uint64_t pc) {
      return hotspot_of(host).code_heap().method_at(static_cast<uintptr_t>(pc));
    },
};

}  // namespace hprof
