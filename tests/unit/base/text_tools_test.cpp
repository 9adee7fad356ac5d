// What can be asked about a Str and written to a TextWriter.
#include "core/base/text_tools.h"

#include <doctest/doctest.h>
#include <string>

using namespace hprof;

namespace {

std::string hex(uint64_t value, unsigned digits) {
  char buffer[32];
  TextWriter writer(buffer, sizeof buffer);
  put_hex(writer, value, digits);
  return buffer;
}

std::string decimal(int64_t value) {
  char buffer[32];
  TextWriter writer(buffer, sizeof buffer);
  put_signed(writer, value);
  return buffer;
}

}  // namespace

TEST_CASE("starts and ends are found only when the text is long enough") {
  CHECK(starts_with("profile", "pro"));
  CHECK(starts_with("pro", "pro"));
  CHECK_FALSE(starts_with("pr", "pro"));
  CHECK(starts_with("x", ""));
  CHECK(ends_with("Map$Entry", "$Entry"));
  CHECK_FALSE(ends_with("try", "$Entry"));
  CHECK_FALSE(ends_with("Map$Entri", "$Entry"));
}

TEST_CASE("find answers the first text, find_last the last character, both the size when there is none") {
  CHECK(find("a$$$Lambda", "$$Lambda") == 2);
  CHECK(find("abc", "") == 0);
  CHECK(find("abab", "abc") == 4);
  CHECK(find("", "x") == 0);
  CHECK(find_last("a/b/c", '/') == 3);
  CHECK(find_last("abc", '/') == 3);
}

TEST_CASE("decimal numbers are read up to 64 bits and nothing else is") {
  uint64_t value = 7;
  CHECK(parse_decimal("18446744073709551615", &value));
  CHECK(value == UINT64_MAX);
  value = 7;
  CHECK_FALSE(parse_decimal("18446744073709551616", &value));
  CHECK_FALSE(parse_decimal("", &value));
  CHECK_FALSE(parse_decimal("-1", &value));
  CHECK_FALSE(parse_decimal("1 ", &value));
  CHECK(value == 7);
  CHECK(parse_decimal("0", &value));
  CHECK(value == 0);
}

TEST_CASE("numbers are written in decimal and hexadecimal") {
  CHECK(decimal(0) == "0");
  CHECK(decimal(-1) == "-1");
  CHECK(decimal(INT64_MIN) == "-9223372036854775808");
  CHECK(decimal(INT64_MAX) == "9223372036854775807");
  CHECK(hex(0, 1) == "0");
  CHECK(hex(0, 8) == "00000000");
  CHECK(hex(0xbeef, 1) == "beef");
  CHECK(hex(0xbeef, 6) == "00beef");
  CHECK(hex(UINT64_MAX, 16) == "ffffffffffffffff");
}

TEST_CASE("copied text is cut and terminated") {
  char array[4] = {'x', 'x', 'x', 'x'};
  CHECK(copy_text(array, sizeof array, "abcdef") == 3);
  CHECK(std::string(array) == "abc");
  CHECK(copy_text(array, 1, "abc") == 0);
  CHECK(std::string(array).empty());
}

TEST_CASE("sizes are said in units that a person reads") {
  const auto size = [](uint64_t bytes) {
    char text[32];
    TextWriter out(text, sizeof(text));
    put_size(out, bytes);
    return std::string(text);
  };
  CHECK(size(0) == "0 bytes");
  CHECK(size(1) == "1 byte");
  CHECK(size(999) == "999 bytes");
  CHECK(size(1000) == "1 KB");
  CHECK(size(1234) == "1.2 KB");
  CHECK(size(9960) == "10 KB");
  CHECK(size(12345) == "12 KB");
  CHECK(size(999499) == "999 KB");
  CHECK(size(999500) == "1 MB");
  CHECK(size(3400000000) == "3.4 GB");
  CHECK(size(UINT64_MAX) == "18 EB");
}
