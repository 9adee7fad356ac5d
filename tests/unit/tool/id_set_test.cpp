// The set of ids against std::set.
#include "tools/format/id_set.h"

#include <doctest/doctest.h>
#include <set>

using hprof::tool::IdSet;

namespace {
void same_as_std_set(uint64_t mask, uint64_t step, uint64_t count) {
  IdSet ids;
  std::set<uint64_t> expected;
  uint64_t x = 12345;
  for (uint64_t i = 0; i < count; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    uint64_t id = (x >> 11 & mask) * step;
    CHECK(ids.insert(id) == expected.insert(id).second);
  }
  CHECK(ids.size() == expected.size());
  for (uint64_t i = 0; i < 4 * count; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    uint64_t id = (x >> 11 & mask) * step + (i & 1);
    if (ids.contains(id) != (expected.count(id) != 0)) FAIL(id);
  }
}
}  // namespace

TEST_CASE("aligned addresses, sequential numbers and scattered ids") {
  same_as_std_set(0xffff, 8, 20000);
  same_as_std_set(0x7fff, 1, 20000);
  same_as_std_set(~uint64_t{0}, 1, 5000);
  same_as_std_set(0x3ff, 0x1000000, 3000);
}

TEST_CASE("the largest ids and a cleared set") {
  IdSet ids;
  CHECK(ids.insert(UINT64_MAX));
  CHECK_FALSE(ids.insert(UINT64_MAX));
  CHECK(ids.contains(UINT64_MAX));
  CHECK_FALSE(ids.contains(0));
  ids.clear();
  CHECK_FALSE(ids.contains(UINT64_MAX));
  CHECK(ids.insert(0));
}
