// The table that gives numbers: equal entries, full tables, equal hashes, races.
#include "core/model/intern_table.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

#include "core/base/hash.h"
#include "tests/unit/base/test_memory.h"

using namespace hprof;
using hprof::test::TestMemory;

namespace {

struct Number {
  uint64_t value;
};
using Numbers = InternTable<Number>;

uint32_t intern(Numbers& table, uint64_t value, uint64_t hash, bool* created = nullptr) {
  return table.intern(
      hash, [&](const Number& entry) { return entry.value == value; },
      [&](Number& entry, uint32_t) {
        entry.value = value;
        return true;
      },
      [](Number&) {}, created);
}

uint32_t intern(Numbers& table, uint64_t value) { return intern(table, value, mix64(value)); }

uint32_t find(Numbers& table, uint64_t value) {
  return table.find(mix64(value), [&](const Number& entry) { return entry.value == value; });
}

uint32_t count(const Numbers& table) {
  uint32_t entries = 0;
  for (uint32_t id = table.last(); id > 0; --id) entries += table.at(id) != nullptr;
  return entries;
}

}  // namespace

TEST_CASE("numbers are dense, start at 1, and stay") {
  TestMemory memory;
  Numbers table;
  REQUIRE(table.create(memory, 10000, Backing::kLazy));
  for (uint64_t i = 0; i < 10000; ++i) REQUIRE(intern(table, i * 7) == i + 1);
  for (uint64_t i = 0; i < 10000; ++i) {
    REQUIRE(intern(table, i * 7) == i + 1);
    REQUIRE(find(table, i * 7) == i + 1);
    REQUIRE(table.at(static_cast<uint32_t>(i + 1))->value == i * 7);
  }
  CHECK(count(table) == 10000);
  CHECK(table.last() == 10000);
  table.destroy();
  CHECK(memory.used() == 0);
}

TEST_CASE("numbers that were never handed out have no entry") {
  TestMemory memory;
  Numbers table;
  CHECK(table.at(1) == nullptr);
  CHECK(intern(table, 5) == 0);
  CHECK(find(table, 5) == 0);
  REQUIRE(table.create(memory, 100, Backing::kLazy));
  CHECK(intern(table, 5) == 1);
  CHECK(find(table, 6) == 0);
  CHECK(table.at(0) == nullptr);
  CHECK(table.at(2) == nullptr);
  CHECK(table.at(101) == nullptr);
  CHECK(table.at(UINT32_MAX) == nullptr);
  table.destroy();
}

TEST_CASE("a full table still finds what it has") {
  TestMemory memory;
  Numbers table;
  REQUIRE(table.create(memory, 50, Backing::kFixed));
  for (uint64_t i = 0; i < 50; ++i) REQUIRE(intern(table, i) != 0);
  CHECK(intern(table, 50) == 0);
  CHECK(intern(table, 49) == 50);
  table.destroy();
}

TEST_CASE("an entry that cannot be filled in takes no number") {
  TestMemory memory;
  Numbers table;
  REQUIRE(table.create(memory, 50, Backing::kLazy));
  const auto never = [](const Number&) { return false; };
  for (int i = 0; i < 200; ++i) {
    CHECK(table.intern(77, never, [](Number&, uint32_t) { return false; }) == 0);
  }
  CHECK(intern(table, 1) == 1);
  CHECK(count(table) == 1);
  table.destroy();
}

TEST_CASE("equal hashes of different entries are told apart") {
  TestMemory memory;
  Numbers table;
  REQUIRE(table.create(memory, 1000, Backing::kLazy));
  for (uint64_t hash : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) {
    for (uint64_t i = 0; i < 200; ++i) {
      bool created = false;
      const uint32_t id = intern(table, hash + i * 1000, hash, &created);
      REQUIRE(created);
      REQUIRE(intern(table, hash + i * 1000, hash, &created) == id);
      REQUIRE_FALSE(created);
    }
  }
  CHECK(count(table) == 600);
  table.destroy();
}

TEST_CASE("beyond the budget nothing is handed out, and what was there works on") {
  TestMemory memory(2 * Region::kChargeStep);
  Numbers table;
  REQUIRE(table.create(memory, 1000000, Backing::kLazy));
  uint64_t count = 0;
  while (intern(table, count)) ++count;
  CHECK(count > 1000);
  CHECK(count < 10000);
  CHECK(memory.used() <= memory.budget());
  for (uint64_t i = 0; i < count; ++i) REQUIRE(intern(table, i) == i + 1);
  table.destroy();
  CHECK(memory.used() == 0);
}

TEST_CASE("threads that intern the same entries at once get the same numbers, and none is lost") {
  constexpr uint32_t kEntries = 20000;
  TestMemory memory;
  Numbers table;
  REQUIRE(table.create(memory, kEntries + 8, Backing::kLazy));
  std::vector<uint32_t> ids[8];
  std::atomic<uint32_t> created_count{0};
  test::run_threads(8, [&](int who) {
    ids[who].resize(kEntries);
    for (uint32_t i = 0; i < kEntries; ++i) {
      bool created = false;
      const uint32_t id = intern(table, i, mix64(i), &created);
      created_count += created;
      // What was handed out is there for whoever got it.
      const Number* entry = table.at(id);
      ids[who][i] = entry && entry->value == i ? id : 0;
    }
  });
  CHECK(created_count == kEntries);
  CHECK(count(table) == kEntries);
  // Numbers of losers are used again: at most one per thread is left over.
  CHECK(table.last() <= kEntries + 8);
  std::set<uint32_t> different(ids[0].begin(), ids[0].end());
  CHECK(different.size() == kEntries);
  CHECK(different.count(0) == 0);
  for (int who = 1; who < 8; ++who) CHECK(ids[who] == ids[0]);
  table.destroy();
}

TEST_CASE("a reader that walks all numbers meets whole entries only") {
  constexpr uint64_t kEntries = 20000;
  TestMemory memory;
  Numbers table;
  REQUIRE(table.create(memory, kEntries + 16, Backing::kLazy));
  std::atomic<int> writers{6};
  std::atomic<uint32_t> bad{0};
  test::run_threads(8, [&](int who) {
    if (who >= 2) {
      for (uint64_t i = 0; i < kEntries; ++i) intern(table, (i << 32 | i) + 1);
      writers -= 1;
      return;
    }
    do {
      for (uint32_t id = table.last(); id > 0; --id) {
        const Number* entry = table.at(id);
        if (entry && static_cast<uint32_t>(entry->value) != (entry->value >> 32) + 1) bad += 1;
      }
    } while (writers > 0);
  });
  CHECK(bad == 0);
  CHECK(count(table) == kEntries);
  table.destroy();
}
