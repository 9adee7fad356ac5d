// Buffered reading, and names.
#include "tools/format/input.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "tests/unit/support/hprof_builder.h"
#include "tools/format/ascii_lines.h"
#include "tools/format/definitions.h"
#include "tools/format/utf8.h"

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

namespace {
// A file of this size that begins with these bytes; the others are 0.
class LargeSource : public ByteSource {
 public:
  LargeSource(std::string bytes, uint64_t size) : bytes_(std::move(bytes)), size_(size) {}
  size_t read(uint8_t* to, size_t size) override {
    size = static_cast<size_t>(std::min<uint64_t>(size, size_ - at_));
    for (size_t i = 0; i < size; ++i, ++at_)
      to[i] = at_ < bytes_.size() ? static_cast<uint8_t>(bytes_[at_]) : 0;
    return size;
  }
  bool seek(uint64_t offset) override {
    at_ = offset;
    return offset <= size_;
  }
  uint64_t size() const override { return size_; }

 private:
  std::string bytes_;
  uint64_t size_, at_ = 0;
};

// The length that is read of a record with this tag, behind whose head so many bytes follow.
uint64_t length_read(uint8_t tag, uint64_t bytes, uint32_t written) {
  hprof::test::HprofBuilder b;
  b.u1(tag).u4(0).u4(written);
  LargeSource source(b.bytes(), b.bytes().size() + bytes);
  Input in(source, 64);
  FileHeader header;
  RecordHead head{};
  bool cut = false;
  REQUIRE(read_header(in, &header));
  REQUIRE(read_record_head(in, &head, &cut));
  CHECK(head.end() == head.body() + head.length);
  return head.length;
}
}  // namespace

TEST_CASE("a HEAP DUMP of 4 GiB and more whose length has wrapped reaches to the end of the file") {
  constexpr uint64_t k4G = uint64_t{1} << 32;
  CHECK(length_read(0x0c, k4G + 100, 100) == k4G + 100);
  CHECK(length_read(0x0c, 3 * k4G + 7, 7) == 3 * k4G + 7);
  CHECK(length_read(0x0c, k4G + 100, 99) == 99);  // others follow it
  CHECK(length_read(0x0c, 100, 100) == 100);
  CHECK(length_read(0x1c, k4G + 100, 100) == 100);  // a segment is never as long
}
