// Windows has no signals that interrupt a thread, so the JVMTI engine samples here, and guarded calls are
// unguarded.
#include "platform/sampling.h"

#include "platform/error.h"
#include "platform/guarded_read.h"

namespace hprof::platform {

bool cpu_timers_supported() { return false; }

int cpu_timer_create(CpuTimer* timer, NativeThread, void*) {
  *timer = CpuTimer{};
  return kErrorUnsupported;
}

int cpu_timer_start(CpuTimer, int64_t) { return kErrorUnsupported; }
int cpu_timer_tick(CpuTimer) { return kErrorUnsupported; }
int cpu_timer_stop(CpuTimer) { return kErrorUnsupported; }
int cpu_timer_delete(CpuTimer*) { return 0; }
int moment_timer_create(CpuTimer*, NativeThread, void*) { return kErrorUnsupported; }
int moment_timer_start(CpuTimer, int64_t) { return kErrorUnsupported; }
int64_t tick_length_ns() { return 0; }
bool blocks_cpu_timers(NativeThread) { return false; }
int install_sample_handler(SampleHandler, int) { return kErrorUnsupported; }
void uninstall_sample_handler() {}
int install_fault_guard() { return kErrorUnsupported; }
void uninstall_fault_guard() {}
uint32_t guarded_read_faults() { return 0; }
GuardedReads* own_guarded_reads() { return nullptr; }
void add_guarded_reads(GuardedReads*) {}

bool guarded_call(void (*fn)(void* argument), void* argument) {
  fn(argument);
  return true;
}

}  // namespace hprof::platform
