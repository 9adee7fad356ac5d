#include "plugins/heap_sites/object_layout.h"

#include <doctest/doctest.h>

using namespace hprof::sites;

TEST_CASE("what lies behind a narrow class is not part of the key") {
  ObjectLayout layout;
  layout.header = ObjectLayout::Header::kNarrow;
  CHECK(layout.header_at() == 8);
  CHECK(layout.class_key(0x0000002000000123) == 0x123);
  CHECK(layout.class_key(0x7777777700000123) == 0x123);
}

TEST_CASE("a compact header has the class above its other bits") {
  ObjectLayout layout;
  layout.header = ObjectLayout::Header::kCompact;
  CHECK(layout.header_at() == 0);
  CHECK(layout.class_key((0x155ull << 42) | 0x3ff5) == 0x155);
  CHECK(!layout.tells_length());
}

TEST_CASE("without knowledge there is no key") {
  ObjectLayout layout;
  CHECK(layout.header_at() == -1);
  CHECK(layout.class_key(0x123) == 0);
}

TEST_CASE("sizes of arrays are aligned") {
  ObjectLayout layout;
  layout.header = ObjectLayout::Header::kNarrow;
  auto header = [](uint64_t length) { return length << 32 | 0x123; };
  CHECK(layout.array_size(header(0), 0) == 16);
  CHECK(layout.array_size(header(1), 0) == 24);
  CHECK(layout.array_size(header(3), 2) == 32);
  CHECK(layout.array_size(header(0x7fffffff), 3) == 16 + 8 * 0x7fffffffull);
  layout.alignment = 16;
  CHECK(layout.array_size(header(1), 3) == 32);
}

TEST_CASE("elements have the size of their type") {
  ObjectLayout layout;
  CHECK(layout.element_shift("[Z") == 0);
  CHECK(layout.element_shift("[C") == 1);
  CHECK(layout.element_shift("[F") == 2);
  CHECK(layout.element_shift("[D") == 3);
  CHECK(layout.element_shift("[[I") == 2);
  layout.reference_shift = 3;
  CHECK(layout.element_shift("[Ljava/lang/String;") == 3);
}
