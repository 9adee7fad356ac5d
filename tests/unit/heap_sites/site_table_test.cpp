#include "plugins/heap_sites/site_table.h"

#include <doctest/doctest.h>
#include <thread>
#include <vector>

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
