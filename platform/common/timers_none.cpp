// For systems without CPU timers that signal a certain thread: the JVMTI engine samples there.
#include "platform/error.h"
#include "platform/sampling.h"

namespace hprof::platform {

int cpu_timer_create(CpuTimer* timer, NativeThread, void*) {
  *timer = CpuTimer{};
  return kErrorUnsupported;
}

bool is_refusal_of_timers(int) { return true; }
int cpu_timer_start(CpuTimer, int64_t) { return kErrorUnsupported; }
int cpu_timer_tick(CpuTimer) { return kErrorUnsupported; }
int cpu_timer_delete(CpuTimer*) { return 0; }
int moment_timer_create(CpuTimer*, NativeThread, void*) { return kErrorUnsupported; }
int moment_timer_start(CpuTimer, int64_t) { return kErrorUnsupported; }
int64_t tick_length_ns() { return 0; }
bool blocks_cpu_timers(NativeThread) { return false; }

}  // namespace hprof::platform
