// CPU time of threads, by the clock ids that the kernel builds from thread ids.
#include "platform/clock.h"

#include <time.h>

#include "platform/linux/thread_clock.h"
#include "platform/posix/timespec.h"

namespace hprof::platform {

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

}  // namespace hprof::platform
