// Clocks and dates.
#include "platform/clock.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "platform/common/cycle_rate.h"
#include "platform/common/date.h"
#include "platform/win32/wait.h"

namespace hprof::platform {
namespace {

constexpr int64_t kFileTimePerMilli = 10000;             // FILETIME counts 100 ns
constexpr int64_t kFileTimeOf1970 = 116444736000000000;  // and begins in 1601

int64_t value_of(const FILETIME& time) {
  return static_cast<int64_t>(uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime);
}

int64_t cpu_nanos(const FILETIME& kernel, const FILETIME& user) {
  return (value_of(kernel) + value_of(user)) * 100;
}

// The counter has one rate, whatever the processor's frequency is.
bool is_counter_steady() {
#if defined(__x86_64__) || defined(__i386__)
  constexpr unsigned kPowerManagement = 0x80000007, kInvariantCounter = 1u << 8;
  unsigned a, b, c, d;
  return __get_cpuid(kPowerManagement, &a, &b, &c, &d) != 0 && (d & kInvariantCounter) != 0;
#else
  return false;  // no system says of other processors what it counts
#endif
}

bool read_cycles(CycleReading* reading) {
  ULONG64 cycles;
  if (!QueryThreadCycleTime(GetCurrentThread(), &cycles)) return false;
  *reading = CycleReading{monotonic_ns(), cpu_counter(), cycles};
  return true;
}

// Cycles in a second; 0: threads have no cycles here (Wine 8), or such that tell no time. Takes some 2 ms.
uint64_t measured_rate() {
  constexpr int kAttempts = 5;
  constexpr int64_t kSpinNs = 2 * kNanosPerMilli;
  CycleReading before, after;
  uint64_t rate = 0;
  for (int i = 0; i < kAttempts && rate == 0 && is_counter_steady(); ++i) {
    if (!read_cycles(&before)) return 0;
    do {
      if (!read_cycles(&after)) return 0;
    } while (after.clock_ns - before.clock_ns < kSpinNs);
    rate = cycle_rate(before, after);
  }
  return rate;
}

INIT_ONCE rate_measured = INIT_ONCE_STATIC_INIT;
uint64_t rate_of_cycles;

BOOL CALLBACK measure_rate(PINIT_ONCE, void*, void**) {
  rate_of_cycles = measured_rate();
  return TRUE;
}

// By the thread's cycles, or else by its times, which move in ticks of 10 to 16 ms: never now the one and now
// the other.
int64_t cpu_of(HANDLE thread) {
  InitOnceExecuteOnce(&rate_measured, measure_rate, nullptr, nullptr);
  if (rate_of_cycles != 0) {
    ULONG64 cycles;
    return QueryThreadCycleTime(thread, &cycles) ? cycles_to_ns(cycles, rate_of_cycles) : -1;
  }
  FILETIME created, ended, kernel, user;
  return GetThreadTimes(thread, &created, &ended, &kernel, &user) ? cpu_nanos(kernel, user) : -1;
}

}  // namespace

int64_t wall_ms() {
  FILETIME now;
  GetSystemTimeAsFileTime(&now);
  return (value_of(now) - kFileTimeOf1970) / kFileTimePerMilli;
}

int64_t monotonic_ns() {
  LARGE_INTEGER frequency, count;
  QueryPerformanceFrequency(&frequency);
  QueryPerformanceCounter(&count);
  // In two parts, as the product of count and 10^9 overflows within minutes.
  const int64_t seconds = count.QuadPart / frequency.QuadPart;
  const int64_t rest = count.QuadPart % frequency.QuadPart;
  return seconds * kNanosPerSecond + rest * kNanosPerSecond / frequency.QuadPart;
}

int64_t thread_cpu_ns() { return cpu_of(GetCurrentThread()); }

int64_t thread_cpu_ns(NativeThread thread) {
  HANDLE handle = OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(thread));
  if (!handle) return -1;
  const int64_t used = GetProcessIdOfThread(handle) == GetCurrentProcessId() ? cpu_of(handle) : -1;
  CloseHandle(handle);
  return used;
}

int64_t process_cpu_ns() {
  FILETIME created, ended, kernel, user;
  if (!GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user)) return -1;
  return cpu_nanos(kernel, user);
}

bool machine_cpu(uint64_t* busy, uint64_t* all) {
  FILETIME idle, kernel, user;  // kernel has idle, too
  if (!GetSystemTimes(&idle, &kernel, &user)) return false;
  *all = static_cast<uint64_t>(value_of(kernel) + value_of(user));
  *busy = *all - static_cast<uint64_t>(value_of(idle));
  return *all != 0;
}

bool is_cpu_counter_trusted() { return false; }

bool local_time(int64_t wall_milliseconds, LocalTime* time) {
  if (wall_milliseconds < -kFileTimeOf1970 / kFileTimePerMilli ||
      wall_milliseconds > INT64_MAX / kFileTimePerMilli - kFileTimeOf1970 / kFileTimePerMilli) {
    return false;
  }
  const uint64_t value = static_cast<uint64_t>(wall_milliseconds * kFileTimePerMilli + kFileTimeOf1970);
  const FILETIME file_time = {static_cast<DWORD>(value), static_cast<DWORD>(value >> 32)};
  SYSTEMTIME universal, local;
  if (!FileTimeToSystemTime(&file_time, &universal) ||
      !SystemTimeToTzSpecificLocalTime(nullptr, &universal, &local) || local.wYear > 9999) {
    return false;
  }
  *time = LocalTime{local.wYear, local.wMonth, local.wDay, local.wHour, local.wMinute, local.wSecond};
  return true;
}

}  // namespace hprof::platform
