// The clocks of Linux. Those of threads have ids that the kernel builds from thread ids.
#include "platform/clock.h"

#include <atomic>
#include <string.h>
#include <time.h>

#include "platform/linux/proc_text.h"
#include "platform/linux/thread_clock.h"
#include "platform/posix/timespec.h"

namespace hprof::platform {

int64_t monotonic_ns() {
  timespec now;
  return clock_gettime(CLOCK_MONOTONIC, &now) == 0 ? nanos_of(now) : -1;
}

int64_t thread_cpu_ns() {
  timespec now;
  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0 ? nanos_of(now) : -1;
}

int64_t thread_cpu_ns(NativeThread thread) {
  // Thread 0 would be the caller.
  if (thread == NativeThread::kNone) return -1;
  timespec now;
  return clock_gettime(thread_cpu_clock(thread), &now) == 0 ? nanos_of(now) : -1;
}

bool is_cpu_counter_trusted() {
#if defined(__aarch64__)
  return true;  // the architecture has one rate for all cores
#else
  static std::atomic<int> known{-1};
  int trusted = known.load(std::memory_order_relaxed);
  if (trusted < 0) {
    char name[32];
    const char* source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    trusted = read_proc_text(source, name, sizeof name) != 0 && strcmp(name, "tsc\n") == 0 ? 1 : 0;
    known.store(trusted, std::memory_order_relaxed);
  }
  return trusted != 0;
#endif
}

}  // namespace hprof::platform
