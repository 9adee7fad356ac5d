// Dates as text. strftime would follow the locale of the process.
#include "platform/common/date.h"

#include <initializer_list>
#include <string.h>

#include "platform/clock.h"

namespace hprof::platform {
namespace {

constexpr char kDays[] = "SunMonTueWedThuFriSat";
constexpr char kMonths[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

// Decimal, `width` places, filled with `fill`; returns the end.
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

size_t format_ctime(int64_t wall_milliseconds, char* text, size_t size) {
  LocalTime time;
  if (!local_time(wall_milliseconds, &time)) return finish("", 0, text, size);
  char built[kCtimeSize];
  memcpy(built, kDays + 3 * time.day_of_week, 3);
  built[3] = ' ';
  memcpy(built + 4, kMonths + 3 * (time.month - 1), 3);
  built[7] = ' ';
  char* at = put_number(built + 8, time.day, 2, ' ');
  char before = ' ';
  for (int value : {time.hour, time.minute, time.second}) {
    *at++ = before;
    at = put_number(at, value, 2, '0');
    before = ':';
  }
  *at++ = ' ';
  put_number(at, time.year, 4, '0');
  return finish(built, kCtimeSize - 1, text, size);
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
