// Clocks and dates.
#include "platform/clock.h"

#include <time.h>

#include "platform/common/date.h"

namespace hprof::platform {

bool local_time(int64_t wall_milliseconds, LocalTime* time) {
  int64_t seconds = wall_milliseconds / 1000;
  if (wall_milliseconds % 1000 < 0) --seconds;
  const time_t now = static_cast<time_t>(seconds);
  tm fields;
  if (now != seconds || !localtime_r(&now, &fields)) return false;
  const int year = fields.tm_year + 1900;
  if (year < 0 || year > 9999) return false;
  *time = LocalTime{year, fields.tm_mon + 1, fields.tm_mday, fields.tm_hour, fields.tm_min, fields.tm_sec};
  return true;
}

int64_t wall_ms() {
  timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / kNanosPerMilli;
}

}  // namespace hprof::platform
