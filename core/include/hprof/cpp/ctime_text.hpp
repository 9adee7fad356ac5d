// The date of a table as ctime writes it in the C locale, "Thu Jan  1 00:00:00 1970", out of the io service's
// timestamp.
#pragma once

#include <cstring>

#include <hprof/service/io.h>

namespace hprof {

struct CtimeText {
  char text[25];
};

// stamp: local time as YYYYMMDDHHMMSS, 14 digits. Anything else gives a date of question marks.
inline CtimeText ctime_text(const char* stamp) {
  CtimeText out = {"??? ??? ?? ??:??:?? ????"};
  int digit[14];
  for (int i = 0; i < 14; i++) {
    if (stamp[i] < '0' || stamp[i] > '9') return out;
    digit[i] = stamp[i] - '0';
  }
  int year = digit[0] * 1000 + digit[1] * 100 + digit[2] * 10 + digit[3];
  int month = digit[4] * 10 + digit[5], day = digit[6] * 10 + digit[7];
  if (year < 1583 || month < 1 || month > 12 || day < 1 || day > 31) return out;
  // Sakamoto's rule for the day of the week.
  static const unsigned char kShift[12] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
  int y = year - (month < 3 ? 1 : 0);
  int weekday = (y + y / 4 - y / 100 + y / 400 + kShift[month - 1] + day) % 7;
  memcpy(out.text, &"SunMonTueWedThuFriSat"[weekday * 3], 3);
  memcpy(out.text + 4, &"JanFebMarAprMayJunJulAugSepOctNovDec"[(month - 1) * 3], 3);
  out.text[8] = day < 10 ? ' ' : stamp[6];
  out.text[9] = stamp[7];
  for (int i = 0; i < 3; i++) memcpy(out.text + 11 + 3 * i, stamp + 8 + 2 * i, 2);
  memcpy(out.text + 20, stamp, 4);
  return out;
}

// Now. [control][any thread that may do I/O]
inline CtimeText ctime_now(const hprof_host* host, const hprof_io_service* io) {
  char stamp[32] = "";
  if (io != nullptr) io->timestamp(host, stamp, sizeof stamp);
  return ctime_text(stamp);
}

}  // namespace hprof
