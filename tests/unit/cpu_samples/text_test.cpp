#include <cstdint>
#include <cstring>
#include <ctime>
#include <doctest/doctest.h>
#include <string>

#include <hprof/cpp/ctime_text.hpp>
#include <hprof/cpp/text_line.hpp>

using namespace hprof;

TEST_CASE("the date of a stamp is the one that ctime writes") {
  for (time_t t : {0l, 951782400l, 1078012800l, 1700000000l, 4102444799l, 1735689599l}) {
    std::tm parts;
    gmtime_r(&t, &parts);
    char stamp[32], expected[32];
    std::strftime(stamp, sizeof stamp, "%Y%m%d%H%M%S", &parts);
    asctime_r(&parts, expected);
    CHECK(std::string(ctime_text(stamp).text) + "\n" == expected);
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
