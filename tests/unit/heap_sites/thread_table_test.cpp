#include "plugins/heap_sites/thread_table.h"

#include <doctest/doctest.h>
#include <set>

#include "plugins/heap_sites/spin_lock.h"
#include "tests/mock/mock_host.h"

using namespace hprof;
using namespace hprof::sites;

TEST_CASE("counts stay where they are while the table grows") {
  MockHost mock;
  Services services(mock.host());
  Counts counts;
  counts.open(services);
  Count* first = counts.find(17);
  REQUIRE(first != nullptr);
  std::set<Count*> all;
  for (uint32_t site = 1; site <= 3000; site++) {
    Count* count = counts.find(site * 7);
    REQUIRE(count != nullptr);
    count->objects += site;
    all.insert(count);
  }
  CHECK(all.size() == 3000);
  CHECK(counts.size() == 3001);
  CHECK(counts.find(17) == first);
  for (uint32_t site = 1; site <= 3000; site++) CHECK(counts.find(site * 7)->objects == site);
  for (uint32_t i = 1; i < counts.size(); i++) CHECK(counts.at(i)->site == i * 7);
  counts.close();
  CHECK(mock.memory_used == 0);
}

TEST_CASE("without memory there is no count") {
  MockHost mock;
  mock.memory_limit = 16;
  Counts counts;
  counts.open(Services(mock.host()));
  CHECK(counts.find(1) == nullptr);
  CHECK(counts.size() == 0);
  counts.close();
}

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
    slot->owner = i;
    CHECK(recent.find(key) == slot);
  }
  for (uint32_t i = 1; i <= kKeys; i++) {
    Recent* slot = recent.find(mix(1u << 30, i));
    if (slot == nullptr) continue;
    found++;
    CHECK(slot->owner == i);
  }
  CHECK(found > kKeys / 2);
  recent.close();
  CHECK(mock.memory_used == 0);
}
