// Clocks and dates.
#include "platform/clock.h"

#include <string.h>
#include <time.h>

#include "platform/posix/timespec.h"

namespace hprof::platform {
namespace {

int64_t read_clock(clockid_t clock) {
  timespec now;
  return clock_gettime(clock, &now) == 0 ? nanos_of(now) : -1;
}

constexpr char kDays[] = "SunMonTueWedThuFriSat";
constexpr char kMonths[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

bool local_time(int64_t wall_milliseconds, tm* out) {
  int64_t seconds = wall_milliseconds / 1000;
  if (wall_milliseconds % 1000 < 0) --seconds;
  const time_t time = static_cast<time_t>(seconds);
  if (time != seconds || !localtime_r(&time, out)) return false;
  const int year = out->tm_year + 1900;
  return year >= 0 && year <= 9999;
}

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

int64_t wall_ms() {
  timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / kNanosPerMilli;
}

int64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }

int64_t deadline_after_ms(int64_t milliseconds) {
  const int64_t now = monotonic_ns();
  if (milliseconds >= (kNoDeadline - now) / kNanosPerMilli) return kNoDeadline;
  return now + milliseconds * kNanosPerMilli;
}

int64_t process_cpu_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

size_t format_ctime(int64_t wall_milliseconds, char* text, size_t size) {
  tm time;
  if (!local_time(wall_milliseconds, &time)) return finish("", 0, text, size);
  char built[kCtimeSize];
  memcpy(built, kDays + 3 * time.tm_wday, 3);
  built[3] = ' ';
  memcpy(built + 4, kMonths + 3 * time.tm_mon, 3);
  built[7] = ' ';
  char* at = put_number(built + 8, time.tm_mday, 2, ' ');
  const int clock[] = {time.tm_hour, time.tm_min, time.tm_sec};
  for (int i = 0; i < 3; ++i) {
    *at++ = i ? ':' : ' ';
    at = put_number(at, clock[i], 2, '0');
  }
  *at++ = ' ';
  put_number(at, time.tm_year + 1900, 4, '0');
  return finish(built, kCtimeSize - 1, text, size);
}

size_t format_timestamp(int64_t wall_milliseconds, char* text, size_t size) {
  tm time;
  if (!local_time(wall_milliseconds, &time)) return finish("", 0, text, size);
  char built[kTimestampSize];
  char* at = put_number(built, time.tm_year + 1900, 4, '0');
  const int rest[] = {time.tm_mon + 1, time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec};
  for (int value : rest) at = put_number(at, value, 2, '0');
  return finish(built, kTimestampSize - 1, text, size);
}

}  // namespace hprof::platform
