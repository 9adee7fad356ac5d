// Conversions between nanoseconds and timespec, and the time left until a deadline.
#pragma once

#include <cstdint>
#include <time.h>

#include "platform/clock.h"

namespace hprof::platform {

inline int64_t nanos_of(const timespec& time) {
  return int64_t{time.tv_sec} * kNanosPerSecond + time.tv_nsec;
}

// Negative times become zero; times beyond time_t its maximum.
inline timespec timespec_of(int64_t nanos) {
  timespec time{};
  if (nanos <= 0) return time;
  const int64_t seconds = nanos / kNanosPerSecond;
  constexpr int64_t kLast = sizeof(time_t) < 8 ? INT32_MAX : INT64_MAX;
  time.tv_sec = static_cast<time_t>(seconds > kLast ? kLast : seconds);
  time.tv_nsec = static_cast<long>(nanos % kNanosPerSecond);
  return time;
}

// For poll(): -1 for no deadline, 0 if it has passed, else milliseconds rounded up.
inline int poll_timeout(int64_t deadline_ns) {
  if (deadline_ns == kNoDeadline) return -1;
  const int64_t left = deadline_ns - monotonic_ns();
  if (left <= 0) return 0;
  const int64_t milliseconds = left / kNanosPerMilli + 1;
  return milliseconds > INT32_MAX ? INT32_MAX : static_cast<int>(milliseconds);
}

}  // namespace hprof::platform
