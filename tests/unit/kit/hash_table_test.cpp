#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <map>
#include <thread>
#include <vector>

#include <hprof/cpp/hash_table.hpp>

#include "tools/mock/mock_host.h"

using namespace hprof;

namespace {

using Counter = std::atomic<uint64_t>;

template <class Table>
std::map<uint64_t, uint64_t> contents(const Table& table) {
  std::map<uint64_t, uint64_t> all;
  table.each([&](uint64_t key, const auto& value) {
    CHECK(all.count(key) == 0);
    all[key] = value;
  });
  return all;
}

// A key that `bits` bits of the hash put first, the n-th of them.
uint64_t colliding(uint64_t n, uint32_t bits) {
  uint64_t key = 0, left = n + 1;
  while (left != 0) left -= mix(0, ++key) >> (64 - bits) == 0 ? 1 : 0;
  return key;
}

}  // namespace

TEST_CASE_TEMPLATE("a value is found under its key", Table, HashTable<Counter, Growth::kNone>,
                   HashTable<Counter, Growth::kLevels>, HashTable<uint64_t, Growth::kMoves>) {
  MockHost mock;
  Table table;
  CHECK_FALSE(table.is_open());
  CHECK(table.find(7) == nullptr);
  REQUIRE(table.open(Services(mock.host()), 16, 64));
  CHECK(table.is_open());
  CHECK(table.find(7) == nullptr);
  REQUIRE(table.make(7) != nullptr);
  *table.make(7) = 70;
  *table.make(UINT64_MAX) = 1;
  CHECK(*table.find(7) == 70);
  CHECK(*table.find(UINT64_MAX) == 1);
  CHECK(table.find(8) == nullptr);
  CHECK(table.size() == 2);
  CHECK(table.make(0) == nullptr);
  CHECK(table.find(0) == nullptr);
  CHECK(contents(table) == std::map<uint64_t, uint64_t>{{7, 70}, {UINT64_MAX, 1}});
  table.clear();
  CHECK(table.size() == 0);
  CHECK(table.find(7) == nullptr);
  CHECK(*table.make(7) == 0);
  table.close();
  CHECK(mock.memory_used == 0);
}

TEST_CASE_TEMPLATE("many keys are kept apart", Table, HashTable<Counter, Growth::kLevels>,
                   HashTable<uint64_t, Growth::kMoves>) {
  MockHost mock;
  Table table;
  REQUIRE(table.open(Services(mock.host()), 16, 1 << 20));
  for (uint64_t i = 1; i <= 20000; i++) *table.make(i << 20 | i) = i;
  for (uint64_t i = 1; i <= 20000; i++) {
    REQUIRE(table.find(i << 20 | i) != nullptr);
    REQUIRE(*table.find(i << 20 | i) == i);
  }
  CHECK(table.size() == 20000);
  CHECK(contents(table).size() == 20000);
  table.close();
  CHECK(mock.memory_used == 0);
}

TEST_CASE("a table that does not grow is full at some time, and keeps what it has") {
  MockHost mock;
  HashTable<Counter, Growth::kNone> table;
  REQUIRE(table.open(Services(mock.host()), 16, 64));
  const uint64_t memory = mock.memory_used;
  uint64_t made = 0;
  for (uint64_t i = 1; i <= 100; i++) made += table.make(i) != nullptr ? 1 : 0;
  CHECK(made == 64);
  CHECK(table.size() == 64);
  CHECK(mock.memory_used == memory);
  for (uint64_t i = 1; i <= 64; i++) CHECK(table.find(i) != nullptr);
  CHECK(table.find(65) == nullptr);
}

TEST_CASE("with levels, values stay where they are, up to the most slots of a level") {
  MockHost mock;
  HashTable<Counter, Growth::kLevels> table;
  REQUIRE(table.open(Services(mock.host()), 16, 128));
  std::vector<Counter*> values;
  for (uint64_t i = 1;; i++) {
    Counter* value = table.make(i);
    if (value == nullptr) break;
    values.push_back(value);
  }
  // 16, 64 and 128 slots.
  CHECK(values.size() > 128);
  CHECK(values.size() <= 208);
  for (uint64_t i = 1; i <= values.size(); i++) CHECK(table.find(i) == values[i - 1]);
  CHECK(mock.memory_used == 208 * 16);
  table.close();
}

TEST_CASE("keys that collide go on to the next level") {
  MockHost mock;
  HashTable<Counter, Growth::kLevels> table;
  REQUIRE(table.open(Services(mock.host()), 1 << 12, 1 << 14));
  for (uint64_t n = 0; n < 20; n++) {
    Counter* value = table.make(colliding(n, 12));
    REQUIRE(value != nullptr);
    *value = n + 1;
  }
  CHECK(mock.memory_used == ((1 << 12) + (1 << 14)) * 16);
  for (uint64_t n = 0; n < 20; n++) CHECK(*table.find(colliding(n, 12)) == n + 1);
  CHECK(table.find(colliding(20, 12)) == nullptr);
  table.close();
}

TEST_CASE("without memory to grow a table keeps what it has") {
  MockHost mock;
  Services services(mock.host());
  HashTable<uint64_t, Growth::kMoves> moves;
  HashTable<Counter, Growth::kLevels> levels;
  REQUIRE(moves.open(services, 16, 1024));
  REQUIRE(levels.open(services, 16, 1024));
  mock.memory_limit = mock.memory_used;
  uint64_t kept = 0;
  for (uint64_t i = 1; i <= 50; i++) {
    if (moves.make(i) != nullptr) kept = i;
    levels.make(i);
  }
  CHECK(kept == 12);
  CHECK(moves.find(12) != nullptr);
  CHECK(moves.make(12) != nullptr);
  CHECK(moves.make(13) == nullptr);
  CHECK(levels.size() >= 8);
  CHECK(levels.size() <= 16);
  mock.memory_limit = UINT64_MAX;
  CHECK(moves.make(13) != nullptr);
  CHECK(moves.find(12) != nullptr);
  moves.close();
  levels.close();
  CHECK(mock.memory_used == 0);
  HashTable<Counter, Growth::kNone> none;
  mock.memory_limit = 0;
  CHECK_FALSE(none.open(services, 16, 16));
}

TEST_CASE("entries of one key are told apart by what they hold") {
  MockHost mock;
  HashTable<uint32_t, Growth::kMoves> table;
  REQUIRE(table.open(Services(mock.host()), 16, 1024));
  const auto is = [](uint32_t wanted) { return [wanted](uint32_t value) { return value == wanted; }; };
  for (uint32_t i = 1; i <= 40; i++) {
    uint32_t* value = table.make(5, is(i));
    REQUIRE(value != nullptr);
    CHECK(*value == 0);
    *value = i;
  }
  CHECK(table.size() == 40);
  for (uint32_t i = 1; i <= 40; i++) {
    CHECK(*table.find(5, is(i)) == i);
    CHECK(*table.make(5, is(i)) == i);
  }
  CHECK(table.find(5, is(41)) == nullptr);
  table.close();
}

TEST_CASE_TEMPLATE("threads that add at the same time lose nothing", Table,
                   HashTable<Counter, Growth::kLevels>, HashTable<Counter, Growth::kNone>) {
  MockHost mock;
  Table table;
  REQUIRE(table.open(Services(mock.host()), 16, 8192));
  std::vector<std::thread> threads;
  std::atomic<uint64_t> seen{0};
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 8000; i++) {
        Counter* value = table.make((i * 7 + static_cast<uint64_t>(t) * 13) % 2000 + 1);
        if (value != nullptr) value->fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 20; i++) table.each([&](uint64_t, Counter& value) { seen += value.load(); });
  });
  for (auto& thread : threads) thread.join();
  CHECK(table.size() == 2000);
  uint64_t sum = 0;
  for (auto& entry : contents(table)) {
    CHECK(entry.second == 16);
    sum += entry.second;
  }
  CHECK(sum == 32000);
  table.close();
  CHECK(mock.memory_used == 0);
}

TEST_CASE("how many entries fit in a share of max-memory") {
  MockHost mock;
  Services services(mock.host());
  CHECK(entries_in_budget(services, 100, 16, 1024, 8) == 1024);
  mock.settings.max_memory = 100 * 1024 * 8;
  CHECK(entries_in_budget(services, 100, 16, 1024, 8) == 1024);
  mock.settings.max_memory -= 1;
  CHECK(entries_in_budget(services, 100, 16, 1024, 8) == 512);
  mock.settings.max_memory = 1;
  CHECK(entries_in_budget(services, 100, 16, 1024, 8) == 16);
}
