#include <atomic>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include <hprof/cpp/live_table.hpp>

#include "tools/mock/mock_host.h"

using namespace hprof;

namespace {

struct Pair {
  uint64_t one, other;
};
using Table = LiveTable<Pair>;

}  // namespace

TEST_CASE("what is put is there until it is taken") {
  MockHost mock;
  Table table;
  REQUIRE(table.open(Services(mock.host())));
  Pair found = {};
  CHECK_FALSE(table.take(16, &found));
  CHECK(table.put(16, {1, 2}));
  CHECK(table.put(UINT64_MAX, {3, 4}));
  CHECK_FALSE(table.take(32, &found));
  CHECK_FALSE(table.take(0, &found));
  CHECK_FALSE(table.take(1, &found));
  REQUIRE(table.take(16, &found));
  CHECK((found.one == 1 && found.other == 2));
  CHECK_FALSE(table.take(16, &found));
  REQUIRE(table.take(UINT64_MAX, &found));
  CHECK((found.one == 3 && found.other == 4));
  table.close();
  CHECK(mock.memory_used == 0);
}

TEST_CASE("it grows by levels, and what was freed has room again") {
  MockHost mock;
  Table table;
  REQUIRE(table.open(Services(mock.host())));
  constexpr uint64_t kMany = 100000;
  Pair found = {};
  for (uint64_t i = 1; i <= kMany; i++) REQUIRE(table.put(i * 16, {i, ~i}));
  const uint64_t used = mock.memory_used;
  for (uint64_t round = 1; round <= 10; round++) {
    for (uint64_t i = 1; i <= kMany; i++) {
      REQUIRE(table.take(i * 16, &found));
      REQUIRE((found.one == i && found.other == ~i));
      REQUIRE(table.put(i * 16, {i, ~i}));
    }
  }
  CHECK(mock.memory_used == used);
  for (uint64_t i = 1; i <= kMany; i++) REQUIRE(table.take(i * 16, &found));
  for (uint64_t i = 1; i <= kMany; i++) REQUIRE_FALSE(table.take(i * 16, &found));
  table.close();
  CHECK(mock.memory_used == 0);
}

TEST_CASE("without memory a key that finds no free slot is refused, and the others stay") {
  MockHost mock;
  Table table;
  REQUIRE(table.open(Services(mock.host())));
  mock.memory_limit = mock.memory_used;
  uint64_t put = 0;
  while (table.put((put + 1) * 16, {put, put})) put++;
  CHECK((put >= 8 && put <= 1024));
  Pair found = {};
  for (uint64_t i = 1; i <= put; i++) CHECK(table.take(i * 16, &found));
  CHECK(table.put(16, {1, 1}));
  table.close();
}

TEST_CASE("threads that put and take at once lose nothing") {
  MockHost mock;
  Table table;
  REQUIRE(table.open(Services(mock.host())));
  constexpr uint64_t kThreads = 4, kKeys = 3000, kRounds = 20;
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      for (uint64_t round = 0; round < kRounds; round++) {
        Pair found = {};
        for (uint64_t i = 1; i <= kKeys; i++) wrong += !table.put((i * kThreads + t) * 16, {i, t + round});
        for (uint64_t i = 1; i <= kKeys; i++) {
          const bool is_there = table.take((i * kThreads + t) * 16, &found);
          wrong += !is_there || found.one != i || found.other != t + round;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  table.close();
  CHECK(mock.memory_used == 0);
}
