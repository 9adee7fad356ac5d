// Dates as text, without strftime, which would follow the process' locale.
#include "platform/common/date.h"

#include <initializer_list>
#include <string.h>

#include "platform/clock.h"

namespace hprof::platform {
namespace {

// Writes a decimal number of `width` digits, filled with `fill`; returns the end.
char* put_number(char* at, int value, int width, char fill) {
  for (int i = width - 1; i >= 0; --i) {
    at[i] = value || i == width - 1 ? static_cast<char>('0' + value % 10) : fill;
    value /= 10;
  }
  return at + width;
}

size_t finish(const char* built, size_t length, char* text, size_t size) {
  if (length >= size) {
    if (size) text[0] = 0;
    return 0;
  }
  memcpy(text, built, length);
  text[length] = 0;
  return length;
}

}  // namespace

int32_t utc_offset_s(int64_t wall_milliseconds) {
  LocalTime time;
  if (!local_time(wall_milliseconds, &time)) return 0;
  // Days since 1970 in the Gregorian calendar; years begin in March, so that leap days end them.
  const int64_t year = time.month < 3 ? time.year - 1 : time.year;
  const int64_t of_year = (153 * (time.month < 3 ? time.month + 9 : time.month - 3) + 2) / 5 + time.day - 1;
  const int64_t days = 365 * year + year / 4 - year / 100 + year / 400 + of_year - 719468;
  const int64_t local = ((days * 24 + time.hour) * 60 + time.minute) * 60 + time.second;
  int64_t utc = wall_milliseconds / 1000;
  if (wall_milliseconds % 1000 < 0) --utc;
  return static_cast<int32_t>(local - utc);
}

size_t format_timestamp(int64_t wall_milliseconds, char* text, size_t size) {
  LocalTime time;
  if (!local_time(wall_milliseconds, &time)) return finish("", 0, text, size);
  char built[kTimestampSize];
  char* at = put_number(built, time.year, 4, '0');
  for (int value : {time.month, time.day, time.hour, time.minute, time.second})
    at = put_number(at, value, 2, '0');
  return finish(built, kTimestampSize - 1, text, size);
}

int64_t deadline_after_ms(int64_t milliseconds) {
  const int64_t now = monotonic_ns();
  if (milliseconds >= (kNoDeadline - now) / kNanosPerMilli) return kNoDeadline;
  return now + milliseconds * kNanosPerMilli;
}

}  // namespace hprof::platform
