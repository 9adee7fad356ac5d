#include "core/hotspot/items.h"

#include <cstring>
#include <doctest/doctest.h>
#include <string>

using namespace hprof;

namespace {

constexpr uint32_t kAll = ~0u >> (32 - kItems);

struct Parsed {
  ItemChoice choice;
  char problem[500] = "";
  bool good;
  explicit Parsed(const char* value) {
    TextWriter out(problem, sizeof problem);
    good = parse_items(value, &choice, &out);
  }
};

}  // namespace

TEST_CASE("y is all items, n is none, a list takes out and puts back from left to right") {
  const auto is = [](const char* value, uint32_t on, uint32_t off) {
    const Parsed parsed(value);
    return parsed.good && parsed.choice.on == on && parsed.choice.off == off;
  };
  const uint32_t table = bit_of(Item::kJniTable), walk = bit_of(Item::kFrameWalk);
  CHECK(is("y", 0, 0));
  CHECK(is("n", 0, kAll));
  CHECK(is("-jni-table", 0, table));
  CHECK(is("-jni-table:-frame-walk", 0, table | walk));
  CHECK(is("n:+jni-table", table, kAll & ~table));
  CHECK(is("-jni-table:+jni-table", table, 0));
  CHECK(is("+jni-table:-jni-table", 0, table));
  CHECK(is("-jni-table:y", 0, 0));
  CHECK(is("-jni-table:+frame-walk", walk, table));
}

TEST_CASE("what writes the VM's memory is off with a Java version that its row does not have") {
  const uint32_t writes = bit_of(Item::kPreciseCode) | bit_of(Item::kWeakReuse);
  for (uint32_t version : {8u, 11u, 17u, 21u, 25u, 27u}) CHECK(unseen_items(version) == 0);
  for (uint32_t version : {0u, 1u, 7u, 9u, 26u, 28u, 64u, 9999u}) CHECK(unseen_items(version) == writes);
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
