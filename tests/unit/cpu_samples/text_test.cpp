#include <cstdint>
#include <cstring>
#include <ctime>
#include <doctest/doctest.h>
#include <string>

#include <hprof/cpp/ctime_text.hpp>
#include <hprof/cpp/text_line.hpp>

using namespace hprof;

TEST_CASE("the date of a stamp is the one that ctime writes") {
  for (int64_t seconds : {0, 951782400, 1078012800, 1700000000, 2147483647, 1735689599}) {
    const time_t t = static_cast<time_t>(seconds);
    const std::tm parts = *std::gmtime(&t);
    char stamp[32], day[8], time[16];
    std::strftime(stamp, sizeof stamp, "%Y%m%d%H%M%S", &parts);
    // Piece by piece: the asctime of Windows fills the day with a zero.
    std::strftime(day, sizeof day, "%a %b", &parts);
    std::strftime(time, sizeof time, "%H:%M:%S %Y", &parts);
    const std::string number = std::to_string(parts.tm_mday);
    CHECK(std::string(ctime_text(stamp).text) ==
          day + std::string(number.size() == 1 ? "  " : " ") + number + " " + time);
  }
}

TEST_CASE("a stamp that is none gives a date of the same shape") {
  for (const char* stamp :
       {"", "2026", "20261301000000", "20260132000000", "2026010a000000", "00000101000000"}) {
    CHECK(strlen(ctime_text(stamp).text) == 24);
    CHECK(ctime_text(stamp).text[0] == '?');
  }
}

TEST_CASE("a line of text formats numbers and cuts what does not fit") {
  TextLine<64> line;
  line.text("a ")
      .number(0)
      .text(" ")
      .number(UINT64_MAX)
      .text(" ")
      .decimal(1500, 3)
      .text(" ")
      .decimal(2000, 3);
  line.text(" ").decimal(5, 3);
  CHECK(std::string(line.c_str()) == "a 0 18446744073709551615 1.5 2 0.005");
  CHECK(line.size() == strlen(line.c_str()));
  TextLine<4> small;
  small.text("abcdef").number(12);
  CHECK(std::string(small.c_str()) == "abc");
  small.clear();
  CHECK(small.size() == 0);
  CHECK(std::string(small.c_str()).empty());
}
