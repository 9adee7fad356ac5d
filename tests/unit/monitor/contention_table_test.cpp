#include "plugins/monitor/contention_table.h"

#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::monitor;

namespace {

struct Fixture {
  MockHost mock;
  Services services{mock.host()};
  ContentionTable table;
  uint64_t total_ns = 0;

  Fixture() { REQUIRE(table.open(services)); }
  ~Fixture() {
    table.close(services);
    CHECK(mock.memory_used == 0);
  }
  std::vector<hprof_monitor_row> rows() {
    ContentionRows found(services);
    REQUIRE(found.open(table.rows_in_use() + 1));
    table.each([&](const hprof_monitor_row& row) { found.add(row); });
    total_ns = found.total_ns();
    const uint64_t count = found.rank(0);
    return std::vector<hprof_monitor_row>(found.data(), found.data() + count);
  }
};

}  // namespace

TEST_CASE("contentions of one trace and class are one row, whatever thread they are of") {
  Fixture f;
  for (hprof_thread_serial thread = 1; thread <= 20; thread++) CHECK(f.table.add(thread, 7, 3, 1, 1000));
  CHECK(f.table.add(1, 7, 4, 2, 50));
  CHECK(f.table.add(1, 8, 3, 1, 5));
  auto rows = f.rows();
  REQUIRE(rows.size() == 3);
  CHECK(f.total_ns == 20055);
  CHECK(rows[0].count == 20);
  CHECK(rows[0].time_ns == 20000);
  CHECK(rows[0].trace == 7);
  CHECK(rows[0].monitor == 3);
  CHECK(rows[1].count == 2);
  CHECK(rows[1].monitor == 4);
  CHECK(rows[2].trace == 8);
}

TEST_CASE("the table ends at the cutoff, and may be empty") {
  MockHost mock;
  for (const auto& [cutoff, kept] : {std::pair{0.09, 2u}, {0.8, 1u}, {1.0, 0u}}) {
    ContentionRows rows(Services(mock.host()));
    REQUIRE(rows.open(3));
    for (const auto& row : {hprof_monitor_row{1, 10, 1, 1, 0}, {1, 90, 2, 1, 0}, {5, 9, 3, 1, 0}})
      rows.add(row);
    CHECK(rows.rank(cutoff) == kept);
    CHECK(rows.data()[0].trace == 2);
    CHECK(rows.data()[1].trace == 1);
  }
  ContentionRows none(Services(mock.host()));
  REQUIRE(none.open(0));
  CHECK(none.rank(0) == 0);
}

TEST_CASE("rows with different labels stay apart, sums do not wrap") {
  MockHost mock;
  ContentionRows rows(Services(mock.host()));
  REQUIRE(rows.open(3));
  for (const auto& row : {hprof_monitor_row{1, 10, 1, 1, 0}, {1, 90, 1, 1, 5}, {UINT64_MAX, 9, 1, 1, 0}})
    rows.add(row);
  REQUIRE(rows.rank(0) == 2);
  CHECK(rows.data()[0].label == 5);
  CHECK(rows.data()[1].count == UINT64_MAX);
  CHECK(rows.data()[1].time_ns == 19);
  CHECK(rows.contentions() == UINT64_MAX);
}

TEST_CASE("without memory for all rows those with the most time are kept, and all are in the totals") {
  MockHost mock;
  mock.memory_limit = 100 * sizeof(MonitorRow);
  ContentionRows rows(Services(mock.host()));
  REQUIRE(rows.open(300));
  for (uint64_t i = 1; i <= 300; i++) rows.add({1, i, i, 1, 0});
  CHECK(rows.left_out() == 225);
  CHECK(rows.contentions() == 300);
  REQUIRE(rows.rank(0) == 75);
  CHECK(rows.data()[0].time_ns == 300);
  CHECK(rows.data()[74].time_ns == 226);
}

TEST_CASE("a full shard refuses new rows, keeps counting in old ones, and says so") {
  Fixture f;
  uint32_t refused = 0;
  for (uint32_t trace = 1; trace <= 2 * ContentionTable::kRows; trace++)
    refused += !f.table.add(1, trace, 1, 1, 1);
  CHECK(refused >= ContentionTable::kRows);
  CHECK(f.rows().size() == 2 * ContentionTable::kRows - refused);
  CHECK(f.table.add(1, 1, 1, 1, 1));
  CHECK(f.table.add(2, 2 * ContentionTable::kRows + 1, 1, 1, 1));
  CHECK_FALSE(f.table.add(1, 0, 0, 1, 1));
}

TEST_CASE("after clear there is nothing, and counting goes on") {
  Fixture f;
  f.table.add(1, 7, 3, 4, 1000);
  f.table.clear();
  CHECK(f.rows().empty());
  f.table.add(1, 7, 3, 1, 10);
  REQUIRE(f.rows().size() == 1);
  CHECK(f.rows()[0].time_ns == 10);
}

TEST_CASE("with little memory the table is smaller, without any there is none") {
  MockHost mock;
  Services services(mock.host());
  ContentionTable table;
  mock.memory_limit = 100000;
  REQUIRE(table.open(services));
  CHECK(table.add(1, 1, 1, 1, 1));
  table.close(services);
  mock.memory_limit = 1000;
  CHECK_FALSE(table.open(services));
  CHECK_FALSE(table.add(1, 1, 1, 1, 1));
}

TEST_CASE("eight threads that add at once lose nothing") {
  Fixture f;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 8; t++) {
    threads.emplace_back([&f, t] {
      // Two threads to a shard, all in the same rows.
      for (uint32_t i = 0; i < 20000; i++) f.table.add(t % 4, 1 + i % 50, 9, 1, 3);
    });
  }
  for (auto& thread : threads) thread.join();
  uint64_t count = 0, time_ns = 0;
  auto rows = f.rows();
  CHECK(rows.size() == 50);
  for (auto& row : rows) {
    count += row.count;
    time_ns += row.time_ns;
  }
  CHECK(count == 160000);
  CHECK(time_ns == 480000);
}
