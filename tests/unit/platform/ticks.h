// A tick of a timer without waiting for it.
#pragma once

#include <cstring>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/platform.h"

namespace hprof::platform {

// Sends the calling thread the signal that the timer would send it; it has been handled when this returns.
inline int send_tick(const CpuTimer& timer) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = SIGPROF;
  info.si_code = SI_TIMER;
  info.si_timerid = static_cast<int>(timer.id);
  info.si_value.sival_ptr = reinterpret_cast<void*>(uintptr_t{timer.place});
  return static_cast<int>(
      syscall(SYS_rt_tgsigqueueinfo, getpid(), static_cast<int>(current_thread_id()), SIGPROF, &info));
}

}  // namespace hprof::platform
