// SPDX-License-Identifier: Apache-2.0
// A date as ctime writes it in the C locale, "Thu Jan  1 00:00:00 1970".
#pragma once

#include <cstring>

#include <hprof/service/clock.h>

namespace hprof {

struct CtimeText {
  char text[25];
};

// seconds: since 1970 by the local clock. Years of other than four digits give a date of question marks.
inline CtimeText ctime_text(int64_t seconds) {
  CtimeText out = {"??? ??? ?? ??:??:?? ????"};
  constexpr int64_t kYear1000 = -30610224000, kYear10000 = 253402300800;
  if (seconds < kYear1000 || seconds >= kYear10000) return out;
  // Days are counted from the first of March of year 0, so that leap days end a year.
  const int64_t since_1970 = (seconds - kYear1000) / 86400 + kYear1000 / 86400;
  const uint32_t of_day = static_cast<uint32_t>(seconds - since_1970 * 86400);
  const uint32_t days = static_cast<uint32_t>(since_1970 + 719468);
  const uint32_t era = days / 146097, of_era = days % 146097;
  const uint32_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const uint32_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const uint32_t march = (5 * of_year + 2) / 153;  // months since March
  const uint32_t day = of_year - (153 * march + 2) / 5 + 1;
  const uint32_t month = march < 10 ? march + 2 : march - 10;  // January is 0
  const uint32_t year = era * 400 + year_of_era + (month < 2 ? 1 : 0);
  const auto digits = [](char* to, uint32_t value, uint32_t count) {
    for (; count != 0; value /= 10) to[--count] = static_cast<char>('0' + value % 10);
  };
  std::memcpy(out.text, &"WedThuFriSatSunMonTue"[days % 7 * 3], 3);
  std::memcpy(out.text + 4, &"JanFebMarAprMayJunJulAugSepOctNovDec"[month * 3], 3);
  digits(out.text + 8, day, 2);
  if (day < 10) out.text[8] = ' ';
  digits(out.text + 11, of_day / 3600, 2);
  digits(out.text + 14, of_day / 60 % 60, 2);
  digits(out.text + 17, of_day % 60, 2);
  digits(out.text + 20, year, 4);
  return out;
}

// Local time of wall_ms, milliseconds since 1970. Without a clock service: UTC. [any] but [signal]
inline CtimeText local_ctime_text(const hprof_host* host, const hprof_clock_service* clock,
                                  uint64_t wall_ms) {
  const int64_t offset =
      HPROF_HAS(clock, hprof_clock_service, utc_offset) ? clock->utc_offset(host, wall_ms) : 0;
  return ctime_text(static_cast<int64_t>(wall_ms / 1000) + offset);
}

}  // namespace hprof
