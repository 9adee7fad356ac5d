#include "core/modules/hotspot/object_header.h"

#include <doctest/doctest.h>

#include "tests/unit/hotspot/fake_tables.h"

using namespace hprof;

namespace {

struct Flags {
  FakeTables tables;
  HotSpot hotspot;
  hprof_object_header header = {};
  const char* read() {
    tables.finish();
    tables.open(&hotspot);
    return read_object_header(hotspot.flags(), &header);
  }
};

}  // namespace

TEST_CASE("what lies behind a narrow class is not part of the key") {
  Flags flags;
  flags.tables.flag("ObjectAlignmentInBytes", uint32_t{8});
  flags.tables.flag("UseCompressedOops", uint8_t{1});
  SUBCASE("by its flag") { flags.tables.flag("UseCompressedClassPointers", uint8_t{1}); }
  SUBCASE("in VMs that always have narrow ones") {}
  REQUIRE(flags.read() == nullptr);
  CHECK(flags.header.at == 8);
  CHECK(flags.header.length_shift == 32);
  CHECK(hprof_class_key(&flags.header, 0x0000002000000123) == 0x123);
  CHECK(hprof_class_key(&flags.header, 0x7777777700000123) == 0x123);
}

TEST_CASE("a wide class is all of the word") {
  Flags flags;
  flags.tables.flag("ObjectAlignmentInBytes", uint32_t{8});
  flags.tables.flag("UseCompressedClassPointers", uint8_t{0});
  REQUIRE(flags.read() == nullptr);
  CHECK(flags.header.at == 8);
  CHECK(flags.header.length_shift == 0);
  CHECK(hprof_class_key(&flags.header, 0x7777777700000123) == 0x7777777700000123);
}

TEST_CASE("a compact header has the class above its other bits") {
  Flags flags;
  flags.tables.flag("ObjectAlignmentInBytes", uint32_t{8});
  flags.tables.flag("UseCompactObjectHeaders", uint8_t{1});
  REQUIRE(flags.read() == nullptr);
  CHECK(flags.header.at == 0);
  CHECK(hprof_class_key(&flags.header, (0x155ull << 42) | 0x3ff5) == 0x155);
  CHECK(flags.header.length_shift == 0);
}

TEST_CASE("without flags there is no header, nor with one that cannot be") {
  Flags flags;
  SUBCASE("none") {}
  SUBCASE("no power of two") { flags.tables.flag("ObjectAlignmentInBytes", uint32_t{24}); }
  SUBCASE("too small") { flags.tables.flag("ObjectAlignmentInBytes", uint32_t{4}); }
  CHECK(flags.read() != nullptr);
}

TEST_CASE("sizes of arrays are aligned") {
  Flags flags;
  flags.tables.flag("ObjectAlignmentInBytes", uint32_t{8});
  REQUIRE(flags.read() == nullptr);
  hprof_object_header header = flags.header;
  auto word = [](uint64_t length) { return length << 32 | 0x123; };
  CHECK(hprof_array_size(&header, word(0), 0) == 16);
  CHECK(hprof_array_size(&header, word(1), 0) == 24);
  CHECK(hprof_array_size(&header, word(3), 2) == 32);
  CHECK(hprof_array_size(&header, word(0x7fffffff), 3) == 16 + 8 * 0x7fffffffull);
  header.alignment = 16;
  CHECK(hprof_array_size(&header, word(1), 3) == 32);
}

TEST_CASE("references are narrow unless the VM says otherwise") {
  Flags flags;
  flags.tables.flag("ObjectAlignmentInBytes", uint32_t{8});
  uint32_t shift = 3;
  SUBCASE("compressed") {
    flags.tables.flag("UseCompressedOops", uint8_t{1});
    shift = 2;
  }
  SUBCASE("not compressed") { flags.tables.flag("UseCompressedOops", uint8_t{0}); }
  REQUIRE(flags.read() == nullptr);
  CHECK(flags.header.reference_shift == shift);
}
