// Dates as text, from the fields that the port works out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof::platform {

struct LocalTime {
  int year, month, day;  // 2024, 1..12, 1..31
  int hour, minute, second;
};

// The port's: false for times it cannot tell or years of more than four digits.
bool local_time(int64_t wall_milliseconds, LocalTime* time);

}  // namespace hprof::platform
