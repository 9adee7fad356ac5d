#include "plugins/heap_sites/place_table.h"

#include <cstddef>
#include <doctest/doctest.h>
#include <vector>

#include "tests/mock/mock_host.h"

using namespace hprof;
using namespace hprof::sites;

namespace {

constexpr uint32_t kKeys = 20000;

uint64_t key_of(uint32_t i) { return uint64_t{i} << 32 | (i % 7 * 0x400 + 0x11000); }

// As a probe looks it up, by nothing but the state's address.
const hprof_place_entry* seen_by_probe(const PlaceTable& table, uint64_t key) {
  const auto* places = reinterpret_cast<const hprof_places*>(static_cast<uintptr_t>(table.address()));
  uint64_t entry = places->table + (key * 0x9E3779B97F4A7C15u >> 32 & places->mask);
  const auto at = [](uint64_t address) {
    return reinterpret_cast<const hprof_place_entry*>(static_cast<uintptr_t>(address));
  };
  if (at(entry)->key == key) return at(entry);
  entry ^= 32;
  return at(entry)->key == key ? at(entry) : nullptr;
}

}  // namespace

TEST_CASE("what was put is found by probes, or was overwritten, but is never another's") {
  MockHost mock;
  PlaceTable table;
  table.open(Services(mock.host()));
  const uint64_t address = table.address();
  CHECK(seen_by_probe(table, key_of(5)) == nullptr);
  CHECK(mock.memory_used == 0);
  std::vector<Count> counts(kKeys + 1);
  for (uint32_t i = 1; i <= kKeys; i++) {
    table.put(key_of(i), {&counts[i], i, 16 + i, i % 5});
    REQUIRE(seen_by_probe(table, key_of(i)) != nullptr);
  }
  CHECK(table.address() == address);
  uint32_t found = 0;
  for (uint32_t i = 1; i <= kKeys; i++) {
    const hprof_place_entry* entry = seen_by_probe(table, key_of(i));
    CHECK(table.find(key_of(i)) == entry);
    if (entry == nullptr) continue;
    found++;
    CHECK(entry->count == reinterpret_cast<uintptr_t>(&counts[i]));
    CHECK(entry->size == static_cast<int32_t>(16 + i));
    const sites::Known known = PlaceTable::known_of(*entry);
    CHECK((known.count == &counts[i] && known.owner == i && known.size == 16 + i && known.epoch == i % 5));
  }
  CHECK(found > PlaceTable::kMostRoom * 3 / 4);
  table.close();
  CHECK(seen_by_probe(table, key_of(kKeys)) == nullptr);
  CHECK(mock.memory_used == 0);
}

TEST_CASE("a probe's place outlives the table's growth, and paused probes find nothing") {
  MockHost mock;
  PlaceTable table;
  table.open(Services(mock.host()));
  auto* places = reinterpret_cast<hprof_places*>(static_cast<uintptr_t>(table.address()));
  places->next = 77;
  Count count = {};
  table.put(key_of(1), {&count, 1, 16, 1});
  table.pause();
  CHECK(seen_by_probe(table, key_of(1)) == nullptr);
  CHECK(table.find(key_of(1)) != nullptr);
  for (uint32_t i = 2; i <= 2000; i++) table.put(key_of(i), {&count, i, 16, 1});
  CHECK(seen_by_probe(table, key_of(2000)) == nullptr);
  table.resume();
  CHECK(seen_by_probe(table, key_of(2000)) != nullptr);
  CHECK(places->next == 77);
  table.put(key_of(2000), {&count, 9, 24, 2});
  CHECK(seen_by_probe(table, key_of(2000))->size == 24);
  CHECK(seen_by_probe(table, key_of(2000))->epoch == 2);
  table.close();
}

TEST_CASE("without memory nothing is found, and nothing fails") {
  MockHost mock;
  mock.memory_limit = 100;
  PlaceTable table;
  table.open(Services(mock.host()));
  Count count = {};
  table.put(key_of(1), {&count, 1, 16, 1});
  CHECK(seen_by_probe(table, key_of(1)) == nullptr);
  CHECK(table.find(key_of(1)) == nullptr);
  table.close();
}

TEST_CASE("a probe's sums are those of the count") {
  // The offsets are known to the tracker class, too.
  CHECK(offsetof(Count, allocated.objects) == 8);
  CHECK(offsetof(Count, allocated.bytes) == 16);
  CHECK(offsetof(hprof_place_entry, count) == 8);
  CHECK(offsetof(hprof_place_entry, epoch) == 16);
  CHECK(offsetof(hprof_place_entry, size) == 20);
  CHECK(offsetof(hprof_places, mask) == 8);
  CHECK(offsetof(hprof_places, next) == 16);
}
