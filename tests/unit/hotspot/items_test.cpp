#include "core/hotspot/items.h"

#include <cstring>
#include <doctest/doctest.h>
#include <string>

using namespace hprof;

namespace {

constexpr uint32_t kAll = ~0u >> (32 - kItems);

struct Parsed {
  uint32_t off = 77;
  char problem[500] = "";
  bool good;
  explicit Parsed(const char* value) {
    TextWriter out(problem, sizeof problem);
    good = parse_items(value, &off, &out);
  }
};

}  // namespace

TEST_CASE("y is all items, n is none, a list takes out and puts back from left to right") {
  CHECK(Parsed("y").good);
  CHECK(Parsed("y").off == kOffByDefault);
  CHECK(Parsed("n").off == kAll);
  CHECK(Parsed("-jni-table").off == (bit_of(Item::kJniTable) | kOffByDefault));
  CHECK(Parsed("-jni-table:-frame-walk").off == (bit_of(Item::kJniTable) | bit_of(Item::kFrameWalk)));
  CHECK(Parsed("n:+jni-table").off == (kAll & ~bit_of(Item::kJniTable)));
  CHECK(Parsed("-jni-table:+jni-table").off == kOffByDefault);
  CHECK(Parsed("-jni-table:y").off == kOffByDefault);
  CHECK(Parsed("+frame-walk").off == 0);
  CHECK(Parsed("-jni-table:+frame-walk").off == bit_of(Item::kJniTable));
}

TEST_CASE("what names no item is refused, with the list of those there are") {
  for (const char* value :
       {"", "x", "-", "jni-table", "-jni", "-jni-tables", "y:x", "-jni-table,y", "-jni-table::y"}) {
    const Parsed parsed(value);
    CHECK_MESSAGE(!parsed.good, value);
    const std::string problem = parsed.problem;
    CHECK(problem.find("-<item>") != std::string::npos);
    for (uint32_t i = 0; i < kItems; i++) {
      CHECK(problem.find(item_name(static_cast<Item>(i))) != std::string::npos);
    }
  }
}
