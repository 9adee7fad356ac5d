// Dates as text, from the fields that the port computes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof::platform {

struct LocalTime {
  int year, month, day;  // 2024, 1..12, 1..31
  int hour, minute, second;
};

// Defined by the port. False: it cannot convert the time, or the year has more than four digits.
bool local_time(int64_t wall_milliseconds, LocalTime* time);

}  // namespace hprof::platform
