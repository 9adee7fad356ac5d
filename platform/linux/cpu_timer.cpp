// CPU timers per thread: POSIX timers on a thread's CPU clock, delivered to that thread.
//
// The system calls are made directly: the C library's timer_create is in librt on older glibc, and its
// timer_t hides the kernel's number.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/linux/proc_text.h"
#include "platform/linux/thread_clock.h"
#include "platform/linux/timer_book.h"
#include "platform/posix/sample_signal.h"
#include "platform/sampling.h"

namespace hprof::platform {
namespace {

// Where a call has 32-bit times, its 64-bit variant has another number; musl names the old one *32.
#if defined(SYS_timer_settime)
constexpr long kSetTimeCall = SYS_timer_settime;
using KernelTime = long;
#elif defined(SYS_timer_settime32)
constexpr long kSetTimeCall = SYS_timer_settime32;
using KernelTime = long;
#else
constexpr long kSetTimeCall = SYS_timer_settime64;
using KernelTime = long long;
#endif

struct KernelTimerSpec {
  KernelTime interval_seconds, interval_nanoseconds;
  KernelTime first_seconds, first_nanoseconds;
};

// The kernel's sigevent up to the thread's id, padded to its size (SIGEV_MAX_SIZE); musl has no name for that
// field, glibc no public one.
struct KernelSigevent {
  sigval value;
  int signal_number;
  int notify;
  int thread;
  char padding[64 - sizeof(sigval) - 3 * sizeof(int)];
};
static_assert(sizeof(KernelSigevent) == 64, "SIGEV_MAX_SIZE");

constexpr int kNotifyThread = 4;  // SIGEV_THREAD_ID

int set_times(CpuTimer timer, int flags, int64_t first_ns, int64_t interval_ns) {
  KernelTimerSpec spec{};
  spec.first_seconds = static_cast<KernelTime>(first_ns / kNanosPerSecond);
  spec.first_nanoseconds = static_cast<KernelTime>(first_ns % kNanosPerSecond);
  spec.interval_seconds = static_cast<KernelTime>(interval_ns / kNanosPerSecond);
  spec.interval_nanoseconds = static_cast<KernelTime>(interval_ns % kNanosPerSecond);
  return syscall(kSetTimeCall, static_cast<int>(timer.id), flags, &spec, nullptr) == 0 ? 0 : errno;
}

int create(CpuTimer* timer, clockid_t clock, NativeThread thread, void* value) {
  *timer = CpuTimer{};
  uint32_t place = 0;
  if (!book_timer(value, &place)) return ENOMEM;
  KernelSigevent event{};
  event.value.sival_ptr = reinterpret_cast<void*>(uintptr_t{place});
  event.signal_number = kSampleSignal;
  event.notify = kNotifyThread;
  event.thread = static_cast<int>(thread);
  int id = -1;
  if (syscall(SYS_timer_create, clock, &event, &id) != 0) {
    const int error = errno;
    release_timer(place);
    return error;
  }
  number_timer(place, id);
  timer->id = id;
  timer->place = place;
  return 0;
}

}  // namespace

int cpu_timer_create(CpuTimer* timer, NativeThread thread, void* value) {
  *timer = CpuTimer{};
  return thread == NativeThread::kNone ? ESRCH : create(timer, thread_cpu_clock(thread), thread, value);
}

// Of a thread that has ended timer_create answers EINVAL, since its clock is gone, or ESRCH.
bool is_refusal_of_timers(int error) {
  return error == EAGAIN || error == ENOMEM || error == EPERM || error == ENOSYS;
}

int cpu_timer_start(CpuTimer timer, int64_t interval_ns) {
  return interval_ns > 0 ? set_times(timer, 0, interval_ns, interval_ns) : EINVAL;
}

int cpu_timer_tick(CpuTimer timer) { return set_times(timer, TIMER_ABSTIME, 1, 0); }

int moment_timer_create(CpuTimer* timer, NativeThread thread, void* value) {
  *timer = CpuTimer{};
  if (!knows_interrupted_calls()) return kErrorUnsupported;
  return thread == NativeThread::kNone ? ESRCH : create(timer, CLOCK_MONOTONIC, thread, value);
}

int moment_timer_start(CpuTimer timer, int64_t wait_ns) {
  return wait_ns > 0 ? set_times(timer, 0, wait_ns, 0) : EINVAL;
}

int64_t tick_length_ns() {
  timespec length{};
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &length) != 0) return 0;
  return length.tv_sec * kNanosPerSecond + length.tv_nsec;
}

int cpu_timer_delete(CpuTimer* timer) {
  if (!timer->is_created()) return 0;
  const int error = syscall(SYS_timer_delete, static_cast<int>(timer->id)) == 0 ? 0 : errno;
  release_timer(timer->place);
  *timer = CpuTimer{};
  return error;
}

bool blocks_cpu_timers(NativeThread thread) {
  constexpr char kField[] = "\nSigBlk:\t";
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/self/task/%d/status", static_cast<int>(thread));
  const char* field = read_proc_text(path, text, sizeof text) != 0 ? strstr(text, kField) : nullptr;
  if (field == nullptr) return false;
  // The mask has 64 or 128 bits; signals from 65 on come first and are not used.
  const char* digits = field + sizeof kField - 1;
  const size_t count = strcspn(digits, "\n");
  if (count > 16) digits += count - 16;
  const uint64_t blocked = strtoull(digits, nullptr, 16);
  return (blocked >> (kSampleSignal - 1) & 1) != 0;
}

Tick own_tick(const siginfo_t* info, void** value) {
  if (info->si_code != SI_TIMER) return Tick::kForeign;
  switch (find_timer(reinterpret_cast<uintptr_t>(info->si_value.sival_ptr), info->si_timerid, value)) {
    case Booked::kYes:
      return Tick::kOurs;
    case Booked::kLate:
      return Tick::kLate;
    case Booked::kNo:
      break;
  }
  return Tick::kForeign;
}

}  // namespace hprof::platform
