// The id of a thread's CPU clock. The layout is kernel ABI (include/linux/posix-timers.h): the thread id
// inverted in the upper bits, then 4 for "of a thread" and 2 for the scheduler's exact clock.
// pthread_getcpuclockid needs a pthread_t, which is not known of threads of the VM and the application.
#pragma once

#include <time.h>

#include "platform/process.h"

namespace hprof::platform {

inline clockid_t thread_cpu_clock(NativeThread thread) {
  return static_cast<clockid_t>((~static_cast<uint32_t>(thread) << 3) | 6u);
}

}  // namespace hprof::platform
