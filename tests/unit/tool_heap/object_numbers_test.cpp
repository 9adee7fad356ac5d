#include "tools/heap/object_numbers.h"

#include <doctest/doctest.h>
#include <random>
#include <set>

using namespace hprof::tool;

namespace {

void check_numbers(const std::set<uint64_t>& ids) {
  IdSet set;
  for (uint64_t id : ids) set.insert(id);
  MemoryBudget budget;
  ObjectNumbers numbers;
  numbers.build(set, budget);
  REQUIRE(numbers.size() == ids.size());
  std::set<uint32_t> seen;
  for (uint64_t id : ids) {
    uint32_t number = numbers.number_of(id);
    REQUIRE(number < numbers.size());
    REQUIRE(numbers.id_of(number) == id);
    seen.insert(number);
    for (uint64_t other : {id + 1, id + 8, id ^ uint64_t{1} << 40}) {
      if (ids.count(other) == 0) REQUIRE(numbers.number_of(other) == kNoObject);
    }
  }
  REQUIRE(seen.size() == ids.size());
}

}  // namespace

TEST_CASE("addresses, counted ids, far apart ones") {
  std::mt19937_64 random(3);
  std::set<uint64_t> addresses, counted, apart, mixed, full;
  for (uint64_t at = 0x700000000; addresses.size() < 200000; at += 16 + random() % 6 * 8)
    addresses.insert(at);
  for (uint64_t i = 1; i <= 100000; ++i) counted.insert(i);
  for (int i = 0; i < 3000; ++i) apart.insert(random());
  for (uint64_t i = 0; i < 70000; ++i) full.insert(8 * i);
  mixed = addresses;
  mixed.insert(apart.begin(), apart.end());
  for (const auto* ids : {&addresses, &counted, &apart, &mixed, &full}) check_numbers(*ids);
  check_numbers({});
  check_numbers({0});
  check_numbers({UINT64_MAX, 5});
}

TEST_CASE("the next address") {
  IdSet set;
  for (uint64_t i = 0; i < 100000; ++i) set.insert(0x10000 + 24 * i);
  MemoryBudget budget;
  ObjectNumbers numbers;
  numbers.build(set, budget);
  for (uint64_t i = 0; i + 1 < 100000; ++i)
    REQUIRE(numbers.id_after(0x10000 + 24 * i) == 0x10000 + 24 * (i + 1));
  CHECK(numbers.id_after(0x10000 + 24 * 99999) == 0);
}
