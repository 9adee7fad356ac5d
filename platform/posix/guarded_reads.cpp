// The guarded reads of the library that this is linked into.
#include "platform/guarded_read.h"

// Defined by the linker if the library has a guarded read.
extern "C" {
extern const hprof::platform::GuardedPlace __start_hprof_reads[] __attribute__((weak, visibility("hidden")));
extern const hprof::platform::GuardedPlace __stop_hprof_reads[] __attribute__((weak, visibility("hidden")));
}

namespace hprof::platform {

static GuardedReads own = {__start_hprof_reads, __stop_hprof_reads, {0}, nullptr};

GuardedReads* own_guarded_reads() { return &own; }
uint32_t guarded_read_faults() { return own.faults.load(std::memory_order_relaxed); }

}  // namespace hprof::platform
