#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include "plugins/heap_sites/cache.h"
#include "plugins/heap_sites/object_size.h"
#include "plugins/heap_sites/site_table.h"
#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::sites;

TEST_CASE("a class and a trace have one number") {
  MockHost mock;
  Services services(mock.host());
  SiteTable sites;
  REQUIRE(sites.open(services, 100));
  uint32_t first = sites.find(3, 7);
  CHECK(first == 1);
  CHECK(sites.find(7, 3) == 2);
  CHECK(sites.find(3, 8) == 3);
  CHECK(sites.find(3, 7) == first);
  CHECK(sites.last() == 3);
  CHECK(sites[2].owner == 7);
  CHECK(sites[2].trace == 3);
  sites.close();
  CHECK(mock.memory_used == 0);
}

TEST_CASE("a full table has no number for a new site, and keeps the old") {
  MockHost mock;
  SiteTable sites;
  REQUIRE(sites.open(Services(mock.host()), 5));
  for (uint32_t i = 1; i <= 5; i++) CHECK(sites.find(i, i) == i);
  CHECK(sites.find(6, 6) == 0);
  CHECK(sites.find(4, 4) == 4);
  sites.close();
}

TEST_CASE("threads that find sites at the same time agree on their numbers") {
  MockHost mock;
  SiteTable sites;
  REQUIRE(sites.open(Services(mock.host()), 10000));
  std::vector<std::vector<uint32_t>> found(4);
  std::vector<std::thread> threads;
  for (auto& numbers : found) {
    threads.emplace_back([&] {
      for (uint32_t i = 1; i <= 2000; i++) numbers.push_back(sites.find(i % 40 + 1, i));
    });
  }
  for (auto& thread : threads) thread.join();
  // Numbers of threads that were not the first are used again, but for the last ones.
  CHECK(sites.last() >= 2000);
  CHECK(sites.last() <= 2003);
  for (auto& numbers : found) CHECK(numbers == found[0]);
  sites.close();
}

TEST_CASE("while memory is asked for a site, other threads find theirs") {
  MockHost mock;
  SiteTable sites;
  REQUIRE(sites.open(Services(mock.host()), 10000));
  mock.on_pause = [](uint64_t) { REQUIRE_MESSAGE(false, "a lock is waited for"); };
  uint32_t asked = 0, other = 100;
  bool inside = false;
  mock.on_allocate = [&] {
    if (inside) return;
    inside = true;
    asked++;
    const uint32_t number = sites.find(++other, 1);
    CHECK(number != 0);
    CHECK(sites.find(other, 1) == number);
    inside = false;
  };
  for (uint32_t i = 1; i <= 90; i++) CHECK(sites.find(i, 1) != 0);
  CHECK(asked != 0);
  CHECK(sites[sites.find(7, 1)].owner == 7);
  sites.close();
}

TEST_CASE("live is what was made since the reset and has not gone") {
  Site site = {};
  site.allocated = {100, 1600};
  CHECK(site.live().objects == 100);
  site.before = {40, 640};
  site.freed = {10, 160};
  site.untracked = {5, 80};
  CHECK(site.since().objects == 60);
  CHECK(site.live().objects == 45);
  CHECK(site.live().bytes == 720);
  site.freed = {100, 1600};
  CHECK(site.live().objects == 0);
  CHECK(site.live().bytes == 0);
}

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

TEST_CASE("elements have the size of their type") {
  const auto shift = [](const char* signature) { return element_shift(signature, 2); };
  CHECK(shift("[Z") == 0);
  CHECK(shift("[C") == 1);
  CHECK(shift("[F") == 2);
  CHECK(shift("[D") == 3);
  CHECK(shift("[[I") == 2);
  CHECK(element_shift("[Ljava/lang/String;", 3) == 3);
}

TEST_CASE(
    "an array's size is computed after so many checks, another object's is known, and else the VM knows it") {
  uint32_t word = array_size(3);
  for (uint32_t i = 0; i < kChecks; i++, word -= kOneCheck) {
    CHECK_FALSE(is_computed(word));
    CHECK_FALSE(is_size_of_all(word));
    CHECK(shift_in(word) == 3);
  }
  CHECK(is_computed(word));
  CHECK(shift_in(word) == 3);
  CHECK(is_size_of_all(16));
  CHECK(is_size_of_all(kArraySize - 1));
  CHECK_FALSE(is_size_of_all(kMeasured));
  CHECK_FALSE(is_computed(kMeasured));
}
