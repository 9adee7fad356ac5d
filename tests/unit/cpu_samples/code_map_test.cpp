#include "plugins/cpu_samples/code_map.h"

#include <doctest/doctest.h>
#include <map>
#include <random>
#include <thread>

#include "tests/mock/mock_host.h"

using namespace hprof;
using namespace hprof::samples;

namespace {
void* method(uintptr_t n) { return reinterpret_cast<void*>(n); }
}  // namespace

TEST_CASE("an address is of the method whose code is there") {
  MockHost mock;
  Services services(mock.host());
  CodeMap map;
  REQUIRE(map.open(services) == HPROF_OK);
  CHECK(map.find(services, 100) == nullptr);
  map.add(200, 50, method(2));
  map.add(100, 50, method(1));
  CHECK(map.find(services, 99) == nullptr);
  CHECK(map.find(services, 100) == method(1));
  CHECK(map.find(services, 149) == method(1));
  CHECK(map.find(services, 150) == nullptr);
  map.add(150, 10, method(3));
  CHECK(map.find(services, 150) == method(3));
  CHECK(map.find(services, 249) == method(2));
  CHECK(map.find(services, 250) == nullptr);
  map.close(services);
  CHECK_FALSE(map.add(1, 1, method(1)));
  CHECK(mock.memory_used == 0);
}

TEST_CASE("code that is put where other code was replaces it") {
  MockHost mock;
  Services services(mock.host());
  CodeMap map;
  REQUIRE(map.open(services) == HPROF_OK);
  map.add(100, 100, method(1));
  map.add(300, 100, method(2));
  CHECK(map.find(services, 150) == method(1));
  map.add(150, 200, method(3));
  CHECK(map.find(services, 120) == nullptr);
  CHECK(map.find(services, 150) == method(3));
  CHECK(map.find(services, 349) == method(3));
  CHECK(map.find(services, 350) == nullptr);
  map.add(160, 10, method(4));  // twice between two look-ups
  map.add(150, 15, method(5));
  CHECK(map.find(services, 151) == method(5));
  CHECK(map.find(services, 166) == nullptr);
  CHECK(map.size() == 1);
  map.close(services);
}

TEST_CASE("any order of additions and look-ups finds what was put there last") {
  MockHost mock;
  Services services(mock.host());
  CodeMap map;
  REQUIRE(map.open(services) == HPROF_OK);
  std::mt19937 random(7);
  // Slots of 64 bytes, so that a newer range replaces exactly one older one.
  std::map<uint64_t, void*> expected;
  uint64_t wrong = 0;
  for (uint32_t i = 1; i <= 20000; i++) {
    uint64_t at = random() % 3000 * 64;
    map.add(at, 64, method(i));
    expected[at] = method(i);
    if (random() % 50 != 0) continue;
    for (int probe = 0; probe < 20; probe++) {
      uint64_t where = random() % 3000 * 64;
      auto known = expected.find(where);
      if (map.find(services, where + random() % 64) != (known == expected.end() ? nullptr : known->second))
        wrong++;
    }
  }
  CHECK(wrong == 0);
  CHECK(map.size() <= 3000);
  map.close(services);
  CHECK(mock.memory_used == 0);
}

TEST_CASE("additions are refused when too many wait, and taken again after a merge") {
  MockHost mock;
  Services services(mock.host());
  CodeMap map;
  REQUIRE(map.open(services) == HPROF_OK);
  for (uint64_t i = 0; i < CodeMap::kMostPending; i++) REQUIRE(map.add(i * 64, 64, method(i + 1)));
  CHECK_FALSE(map.add(1, 1, method(1)));
  CHECK(map.wants_merge());
  mock.memory_limit = mock.memory_used;  // no memory: it stays as it is
  map.merge(services);
  CHECK(map.wants_merge());
  mock.memory_limit = UINT64_MAX;
  map.merge(services);
  CHECK_FALSE(map.wants_merge());
  CHECK(map.add(CodeMap::kMostPending * 64, 64, method(9)));
  CHECK(map.find(services, 64 * 1000) == method(1001));
  map.close(services);
  CHECK(mock.memory_used == 0);
}

TEST_CASE("threads of the VM add while the consumer looks up") {
  MockHost mock;
  Services services(mock.host());
  CodeMap map;
  REQUIRE(map.open(services) == HPROF_OK);
  auto adder = [&](uint64_t base) {
    for (uint64_t i = 0; i < 5000; i++) map.add(base + i * 64, 64, method(base + i));
  };
  std::thread one(adder, 1u << 20), two(adder, 1u << 24);
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < 5000; i++) {
    void* found = map.find(services, (1u << 20) + i * 64);
    if (found != nullptr && found != method((1u << 20) + i)) wrong++;
  }
  one.join();
  two.join();
  CHECK(map.find(services, (1u << 20) + 4999 * 64) == method((1u << 20) + 4999));
  CHECK(map.find(services, (1u << 24)) == method(1u << 24));
  CHECK(map.size() == 10000);
  CHECK(wrong == 0);
  map.close(services);
}
