#include "plugins/heap_sites/recent_table.h"

#include <doctest/doctest.h>

#include <hprof/cpp/hash_table.hpp>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::sites;

TEST_CASE("a key that was added is found, or was overwritten, but never another's") {
  MockHost mock;
  RecentTable recent;
  recent.open(Services(mock.host()));
  CHECK(recent.find(5) == nullptr);
  uint64_t found = 0;
  constexpr uint32_t kKeys = 20000;
  for (uint32_t i = 1; i <= kKeys; i++) {
    uint64_t key = mix(1u << 30, i);
    Recent* slot = recent.add(key);
    REQUIRE(slot != nullptr);
    slot->known.owner = i;
    CHECK(recent.find(key) == slot);
  }
  for (uint32_t i = 1; i <= kKeys; i++) {
    Recent* slot = recent.find(mix(1u << 30, i));
    if (slot == nullptr) continue;
    found++;
    CHECK(slot->known.owner == i);
  }
  CHECK(found > kKeys / 2);
  recent.close();
  CHECK(mock.memory_used == 0);
}
