// Windows.h, and deadlines as milliseconds.
#pragma once

#include <winsock2.h>
// Before windows.h.
#include <cstdint>
#include <windows.h>

#include "platform/clock.h"

namespace hprof::platform {

// For the Wait functions: INFINITE for no deadline, 0 if it has passed, else milliseconds rounded up. A wait
// may end a little early, by the coarser system clock: wait again until has_passed().
inline DWORD wait_milliseconds(int64_t deadline_ns) {
  if (deadline_ns == kNoDeadline) return INFINITE;
  const int64_t left = deadline_ns - monotonic_ns();
  if (left <= 0) return 0;
  const int64_t milliseconds = left / kNanosPerMilli + 1;
  return milliseconds > INT32_MAX ? INT32_MAX : static_cast<DWORD>(milliseconds);
}

inline bool has_passed(int64_t deadline_ns) {
  return deadline_ns != kNoDeadline && monotonic_ns() >= deadline_ns;
}

inline int last_error() {
  const DWORD code = GetLastError();
  return code ? static_cast<int>(code) : ERROR_GEN_FAILURE;
}

}  // namespace hprof::platform
