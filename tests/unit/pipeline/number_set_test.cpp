#include "core/pipeline/number_set.h"

#include <doctest/doctest.h>
#include <initializer_list>

#include "tests/unit/base/test_memory.h"

using namespace hprof;
using hprof::test::TestMemory;

TEST_CASE("a number is new once, however large it is") {
  TestMemory memory;
  NumberSet set;
  REQUIRE(set.create(memory, 0));
  for (uint32_t number : {0u, 1u, 63u, 64u, 4095u, 4096u, (1u << 21) - 1, 1u << 21, (1u << 21) + 5,
                          100000000u, 0xfff00000u, UINT32_MAX}) {
    CHECK(set.add(number));
    CHECK_FALSE(set.add(number));
  }
  for (uint32_t number = 70000; number < 200000; number++) REQUIRE(set.add(number));
  for (uint32_t number = 70000; number < 200000; number++) REQUIRE_FALSE(set.add(number));
  set.destroy();
  CHECK(memory.used() == 0);
}

TEST_CASE("three million threads in a row take a bit each") {
  TestMemory memory;
  NumberSet set;
  REQUIRE(set.create(memory, 0));
  for (uint32_t number = 1; number <= 3000000; number++) REQUIRE(set.add(number));
  CHECK(memory.used() < 400000);
  CHECK_FALSE(set.add(1));
  CHECK_FALSE(set.add(3000000));
  set.destroy();
}

TEST_CASE("without memory a number is new each time, and nothing is lost that was known") {
  TestMemory memory(2000);
  NumberSet set;
  REQUIRE(set.create(memory, 0));
  CHECK(set.add(5));
  for (uint32_t page = 1; page < 100; page++) set.add(page * 4096);
  CHECK(set.add(99 * 4096));
  CHECK_FALSE(set.add(5));
  set.destroy();
  CHECK(memory.used() == 0);
}

TEST_CASE("room that was asked for is there from the start, or the set is not made") {
  TestMemory memory(8000);
  NumberSet set, larger;
  REQUIRE(set.create(memory, 20000));
  const uint64_t used = memory.used();
  for (uint32_t number = 0; number <= 20000; number++) REQUIRE(set.add(number));
  CHECK(memory.used() == used);
  CHECK_FALSE(larger.create(memory, 1000000));
  larger.destroy();
  set.destroy();
  CHECK(memory.used() == 0);
}
