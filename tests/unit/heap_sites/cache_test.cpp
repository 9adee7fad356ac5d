#include "plugins/heap_sites/cache.h"

#include <doctest/doctest.h>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::sites;

TEST_CASE("a value that was put is found, or was overwritten, but never another's") {
  MockHost mock;
  const Services services(mock.host());
  constexpr uint32_t kKeys = 20000, kMostBits = 12;
  Cache<uint32_t, kMostBits> cache;
  CHECK(cache.find(5) == nullptr);
  for (uint32_t i = 1; i <= kKeys; i++) {
    cache.put(services, i, i);
    REQUIRE(cache.find(i) != nullptr);
    CHECK(*cache.find(i) == i);
  }
  uint32_t found = 0;
  for (uint32_t i = 1; i <= kKeys; i++) {
    const uint32_t* value = cache.find(i);
    found += value != nullptr ? 1 : 0;
    if (value != nullptr) CHECK(*value == i);
  }
  CHECK(found > (1u << kMostBits) / 2);
  cache.put(services, 7, 70);
  CHECK(*cache.find(7) == 70);
  cache.clear();
  CHECK(cache.find(7) == nullptr);
  cache.close(services);
  CHECK(mock.memory_used == 0);
}

TEST_CASE("without memory a cache forgets at once, and remembers when there is some") {
  MockHost mock;
  const Services services(mock.host());
  Cache<uint32_t, 12> cache;
  mock.memory_limit = 0;
  cache.put(services, 5, 50);
  CHECK(cache.find(5) == nullptr);
  mock.memory_limit = UINT64_MAX;
  cache.put(services, 5, 50);
  CHECK(cache.find(5) != nullptr);
  cache.close(services);
}
