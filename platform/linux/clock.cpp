// The clocks of Linux. The ids of threads' clocks are made of thread ids.
#include "platform/clock.h"

#include <atomic>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/linux/proc_text.h"
#include "platform/linux/thread_clock.h"
#include "platform/posix/timespec.h"

namespace hprof::platform {
namespace {

// CPU clocks are read by system calls: a preloaded library that shifts the C library's clocks would shift
// them, but not the CPU timers set by them. Where a call has 32-bit times, its 64-bit variant has another
// number; musl names the old one *32.
#if defined(SYS_clock_gettime)
constexpr long kGetTimeCall = SYS_clock_gettime;
using KernelTime = long;
#elif defined(SYS_clock_gettime32)
constexpr long kGetTimeCall = SYS_clock_gettime32;
using KernelTime = long;
#else
constexpr long kGetTimeCall = SYS_clock_gettime64;
using KernelTime = long long;
#endif

int64_t cpu_clock_ns(clockid_t clock) {
  struct {
    KernelTime seconds, nanoseconds;
  } now;
  if (syscall(kGetTimeCall, clock, &now) != 0) return -1;
  return int64_t{now.seconds} * kNanosPerSecond + now.nanoseconds;
}

}  // namespace

int64_t monotonic_ns() {
  timespec now;
  return clock_gettime(CLOCK_MONOTONIC, &now) == 0 ? nanos_of(now) : -1;
}

int64_t thread_cpu_ns() { return cpu_clock_ns(CLOCK_THREAD_CPUTIME_ID); }
int64_t process_cpu_ns() { return cpu_clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

bool machine_cpu(uint64_t* busy, uint64_t* all) {
  char text[256];
  if (read_proc_text("/proc/stat", text, sizeof text) == 0 || strncmp(text, "cpu ", 4) != 0) return false;
  *busy = *all = 0;
  const char* at = text + 4;
  // user, nice, system, idle, iowait, irq, softirq, steal; the times of guests are part of user and nice.
  for (uint32_t i = 0; i < 8; i++) {
    const uint64_t ticks = proc_number(at, &at);
    *all += ticks;
    if (i != 3 && i != 4) *busy += ticks;
  }
  return *all != 0;
}

int64_t thread_cpu_ns(NativeThread thread) {
  // Thread 0 would be the calling thread.
  return thread == NativeThread::kNone ? -1 : cpu_clock_ns(thread_cpu_clock(thread));
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
