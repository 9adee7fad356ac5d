// What can be asked about a Str and written to a TextWriter.
#include "core/base/text_tools.h"

#include <doctest/doctest.h>
#include <string>

using namespace hprof;

namespace {}  // namespace

TEST_CASE("starts and ends are found only when the text is long enough") {
  CHECK(starts_with("profile", "pro"));
  CHECK(starts_with("pro", "pro"));
  CHECK_FALSE(starts_with("pr", "pro"));
  CHECK(starts_with("x", ""));
  CHECK(ends_with("Map$Entry", "$Entry"));
  CHECK_FALSE(ends_with("try", "$Entry"));
  CHECK_FALSE(ends_with("Map$Entri", "$Entry"));
}

TEST_CASE("find_last answers the last character, the size when there is none") {
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
