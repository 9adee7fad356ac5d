// Clocks and dates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/process.h"

namespace hprof::platform {

constexpr int64_t kNanosPerMilli = 1000000;
constexpr int64_t kNanosPerSecond = 1000000000;
constexpr int64_t kNoDeadline = INT64_MAX;

// Milliseconds since 1970-01-01 UTC; may jump when the clock is set. [signal]
int64_t wall_ms();

// Nanoseconds of a clock that never goes back and does not count while the machine is suspended; its zero is
// arbitrary. [signal]
int64_t monotonic_ns();

// The deadline `milliseconds` from now; saturates at kNoDeadline. [signal]
int64_t deadline_after_ms(int64_t milliseconds);

// CPU time used by the calling thread, user and system, in ns; -1 if the OS does not say. [signal]
int64_t thread_cpu_ns();

// CPU time used by a live thread of this process, in ns; -1 if it has ended or the OS does not say. The OS
// may reuse the id of a thread that has ended: pass only threads that are known to live. [signal]
int64_t thread_cpu_ns(NativeThread thread);

// CPU time used by all threads of this process, those that ended too, in ns; -1 if the OS does not say.
// [signal]
int64_t process_cpu_ns();

// CPU time of all processors since the system started, and how much of it they were busy, in one unit. False:
// the OS does not say.
bool machine_cpu(uint64_t* busy, uint64_t* all);

// The processor's time-stamp counter, read in a few nanoseconds, perhaps before earlier instructions have
// completed; 0: there is none. [signal]
inline uint64_t cpu_counter() {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

// True: the OS uses that counter as its clock, so it has one rate on all cores. False also if the OS does not
// tell. The first call is slow. [any]
bool is_cpu_counter_trusted();

// Seconds that local time is ahead of UTC (east of Greenwich: above 0) at that time; 0: not known. [any]
int32_t utc_offset_s(int64_t wall_milliseconds);

// Local time as "YYYYMMDDHHMMSS", for file names: kTimestampSize bytes with its NUL for years of four digits.
// Returns the length; 0 and an empty text if it does not fit. [any]
constexpr size_t kTimestampSize = 15;
size_t format_timestamp(int64_t wall_milliseconds, char* text, size_t size);

}  // namespace hprof::platform
