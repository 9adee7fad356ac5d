#include "core/base/value.h"

#include <clocale>
#include <doctest/doctest.h>
#include <string>

using namespace hprof;

namespace {
std::string real_text(double value) {
  char text[64];
  TextWriter out(text, sizeof(text));
  put_real(&out, value);
  return text;
}
}  // namespace

TEST_CASE("decimals are read to the ends of the 64-bit range and no further") {
  int64_t value = 7;
  CHECK(parse_decimal("0", &value));
  CHECK(value == 0);
  CHECK(parse_decimal("-12", &value));
  CHECK(value == -12);
  CHECK(parse_decimal("+9223372036854775807", &value));
  CHECK(value == INT64_MAX);
  CHECK(parse_decimal("-9223372036854775808", &value));
  CHECK(value == INT64_MIN);
  for (const char* bad : {"", "-", "+", "x", "1x", " 1", "1 ", "0x10", "--1", "9223372036854775808",
                          "-9223372036854775809", "99999999999999999999999"}) {
    CAPTURE(bad);
    value = 7;
    CHECK_FALSE(parse_decimal(bad, &value));
    CHECK(value == 7);
  }
}

TEST_CASE("reals are read exactly for what people type") {
  double value = 7;
  struct {
    const char* text;
    double is;
  } const good[] = {{"0.0001", 0.0001}, {"0", 0},     {"1", 1},
                    {".5", 0.5},        {"5.", 5},    {"1e-4", 1e-4},
                    {"-2.5E+1", -25},   {"0.1", 0.1}, {"123456789.125", 123456789.125},
                    {"0e300", 0},       {"1e-399", 0}};
  for (const auto& one : good) {
    CAPTURE(one.text);
    CHECK(parse_real(one.text, &value));
    CHECK(value == one.is);
  }
  for (const char* bad : {"", ".", "-", "e5", "1e", "1e+", "1,5", "nan", "inf", "0x1p3", "1.2.3", "1e401",
                          "1e-401", "1e308", " 1"}) {
    CAPTURE(bad);
    value = 7;
    CHECK_FALSE(parse_real(bad, &value));
    CHECK(value == 7);
  }
}

TEST_CASE("reals do not depend on the locale") {
  // Where the locale is not installed the check holds as well.
  setlocale(LC_NUMERIC, "de_DE.UTF-8");
  double value = 0;
  CHECK(parse_real("0.25", &value));
  CHECK(value == 0.25);
  CHECK_FALSE(parse_real("0,25", &value));
  CHECK(real_text(0.25) == "0.25");
  setlocale(LC_NUMERIC, "C");
}

TEST_CASE("sizes take k, m, g and t and refuse what does not fit") {
  uint64_t value = 7;
  CHECK(parse_size("0", &value));
  CHECK(value == 0);
  CHECK(parse_size("64k", &value));
  CHECK(value == 65536);
  CHECK(parse_size("2M", &value));
  CHECK(value == 2097152);
  CHECK(parse_size("1g", &value));
  CHECK(value == 1073741824);
  CHECK(parse_size("18446744073709551615", &value));
  CHECK(value == UINT64_MAX);
  for (const char* bad : {"", "k", "-1", "1kb", "1.5m", "18446744073709551616", "16777216t", "1 k"}) {
    CAPTURE(bad);
    value = 7;
    CHECK_FALSE(parse_size(bad, &value));
    CHECK(value == 7);
  }
}

TEST_CASE("milliseconds become nanoseconds without rounding errors") {
  uint64_t value = 7;
  CHECK(parse_millis("10", &value));
  CHECK(value == 10000000);
  CHECK(parse_millis("0.5", &value));
  CHECK(value == 500000);
  CHECK(parse_millis(".1", &value));
  CHECK(value == 100000);
  CHECK(parse_millis("3.", &value));
  CHECK(value == 3000000);
  CHECK(parse_millis("0.0000019", &value));
  CHECK(value == 1);
  for (const char* bad : {"", ".", "-1", "1ms", "1.2.3", "1e3", "18446744073710", "99999999999999999999"}) {
    CAPTURE(bad);
    value = 7;
    CHECK_FALSE(parse_millis(bad, &value));
    CHECK(value == 7);
  }
}

TEST_CASE("numbers in messages are short") {
  CHECK(real_text(0) == "0");
  CHECK(real_text(0.1) == "0.1");
  CHECK(real_text(-2.5) == "-2.5");
  CHECK(real_text(60000) == "60000");
  CHECK(real_text(2147483647) == "2147483647");
  CHECK(real_text(0.9999999) == "1");
  CHECK(real_text(1e300) == "1e15 or more");
}
