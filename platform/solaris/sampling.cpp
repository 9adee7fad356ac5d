// Solaris has CPU timers, but none that signal a certain thread, so the JVMTI engine samples here.
#include "platform/sampling.h"

#include "platform/error.h"
#include "platform/posix/sample_signal.h"

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
Tick own_tick(const siginfo_t*, void**) { return Tick::kForeign; }

}  // namespace hprof::platform
