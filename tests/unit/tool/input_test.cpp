// Buffered reading, and names.
#include "tools/hprof/format/input.h"

#include <doctest/doctest.h>

#include "tools/hprof/check/definitions.h"
#include "tools/hprof/format/ascii_lines.h"
#include "tools/hprof/format/utf8.h"

using namespace hprof::tool;

namespace {
std::string counted(size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}
}  // namespace

TEST_CASE("values are big-endian across the edges of the buffer") {
  std::string bytes = counted(100);
  MemorySource source(bytes.data(), bytes.size());
  Input in(source, 16);
  in.set_id_size(8);
  CHECK(in.u1() == 0);
  CHECK(in.u2() == 0x0102);
  CHECK(in.u4() == 0x03040506);
  CHECK(in.u8() == 0x0708090a0b0c0d0e);
  CHECK(in.id() == 0x0f10111213141516);
  in.set_id_size(4);
  CHECK(in.id() == 0x1718191a);
  CHECK(in.offset() == 27);
  CHECK(in.skip(60));
  CHECK(in.u1() == 87);
  CHECK(in.seek(5));
  CHECK(in.u1() == 5);
  CHECK(in.ok());
}

TEST_CASE("an overrun reads as zero until a seek") {
  std::string bytes = counted(10);
  MemorySource source(bytes.data(), bytes.size());
  Input in(source, 16);
  in.skip(8);
  CHECK(in.u4() == 0);
  CHECK_FALSE(in.ok());
  CHECK(in.u1() == 0);
  CHECK(in.seek(8));
  CHECK(in.u2() == 0x0809);
  CHECK(in.at_end());
  CHECK_FALSE(in.skip(1));
}

TEST_CASE("a limit is kept even where the buffer holds more") {
  std::string bytes = counted(100);
  MemorySource source(bytes.data(), bytes.size());
  Input in(source, 64);
  in.u1();
  in.set_limit(5);
  CHECK(in.u4() == 0x01020304);
  CHECK(in.u1() == 0);
  CHECK_FALSE(in.ok());
  in.set_limit(90);
  CHECK(in.skip(84));
  CHECK(in.offset() == 89);
  CHECK_FALSE(in.skip(2));
}

TEST_CASE("lines are cut at a maximum and told from unfinished ones") {
  std::string text = "one\n\n" + std::string(50, 'x') + "\nlast";
  MemorySource source(text.data(), text.size());
  Input in(source, 16);
  std::string line;
  bool cut = false;
  CHECK(in.line(20, &line, &cut));
  CHECK(line == "one");
  line.clear();
  CHECK(in.line(20, &line, &cut));
  CHECK(line.empty());
  CHECK(in.line(20, &line, &cut));
  CHECK(line == std::string(20, 'x'));
  CHECK(cut);
  line.clear();
  CHECK_FALSE(in.line(20, &line, &cut));
  CHECK(line == "last");
}

TEST_CASE("class names print as in Java source") {
  CHECK(java_name("java/util/Map$Entry") == "java.util.Map$Entry");
  CHECK(java_name("[B") == "byte[]");
  CHECK(java_name("[[Ljava/lang/String;") == "java.lang.String[][]");
  CHECK(java_name("java.lang.String[]") == "java.lang.String[]");
  CHECK(java_name("") == "");
}

TEST_CASE("dates are those of ctime in the C locale") {
  CHECK(is_ctime("Sat Nov 21 05:00:02 2026"));
  CHECK(is_ctime("Sun Jan  1 05:00:02 2026"));
  CHECK_FALSE(is_ctime("Sat Nov 21 05:00:02 2026 "));
  CHECK_FALSE(is_ctime("atN Nov 21 05:00:02 2026"));
  CHECK_FALSE(is_ctime("Sat nov 21 05:00:02 2026"));
  CHECK_FALSE(is_ctime(""));
}

TEST_CASE("modified UTF-8 is accepted and broken bytes are found") {
  CHECK(first_bad_utf8("plain \xc3\xa4 \xe2\x82\xac", false) == 13 - 1);
  CHECK(first_bad_utf8(std::string("\xc0\x80", 2), false) == 2);  // Java's U+0000
  CHECK(first_bad_utf8("\xed\xa0\x80\xed\xb0\x80", false) == 6);  // surrogates
  CHECK(first_bad_utf8("ab\xff", false) == 2);
  CHECK(first_bad_utf8("ab\xc3", false) == 2);
  CHECK(first_bad_utf8("a\x01", false) == 1);
  CHECK(first_bad_utf8("a\x01", true) == 2);
}
