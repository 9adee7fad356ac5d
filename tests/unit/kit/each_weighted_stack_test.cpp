#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/each_weighted_stack.hpp>
#include <hprof/cpp/events.hpp>

using namespace hprof;

namespace {

// "trace: weight weight" of each row.
std::vector<std::string> lines(const hprof_rec_table& table) {
  std::vector<std::string> found;
  const StackTable stacks(table);
  each_weighted_stack(stacks, [&](const WeightedStack& stack) {
    std::string line = std::to_string(stack.trace) + ":";
    for (uint32_t i = 0; i < stacks.weight_count(); i++) line += " " + std::to_string(stack.weights[i]);
    found.push_back(line);
  });
  return found;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("the stacks of the shipped tables, their weights and what stands on top") {
  const hprof_cpu_row samples[] = {{20, 200, 7}, {10, 100, 8}}, totals = {33, 330, 0};
  hprof_rec_table table = table_of(kCpuSamples, samples, 2);
  CHECK(lines(table) == Lines{"7: 20 200", "8: 10 100"});
  {
    const StackTable stacks(table);
    CHECK(stacks.has_stacks());
    REQUIRE(stacks.weight_count() == 2);
    CHECK(std::string(stacks.weight(0).name) == "samples");
    CHECK(std::string(unit_of(stacks.weight(0))) == "samples");
    CHECK(std::string(unit_of(stacks.weight(1))) == "nanoseconds");
    CHECK(stacks.first_weight() == 0);
    CHECK(stacks.leaf_column() == HPROF_NO_COLUMN);
    CHECK(stacks.total(0) == 30);
  }
  table.totals = cells_of(&totals);
  CHECK(StackTable(table).total(0) == 33);
  CHECK(StackTable(table).total(1) == 330);

  const hprof_site_row sites[] = {{3, 9, 100, 1, 1000, 10}};
  table = table_of(kAllocSites, sites, 1);
  CHECK(lines(table) == Lines{"9: 100 1 1000 10"});
  const StackTable by_default(table);
  CHECK(std::string(by_default.weight(by_default.first_weight()).name) == "allocated_bytes");
  REQUIRE(by_default.leaf_column() == 0);
  each_weighted_stack(by_default,
                      [&](const WeightedStack& stack) { CHECK(stack.row[by_default.leaf_column()].u == 3); });
  table.order = HPROF_SITE_LIVE_BYTES;
  const StackTable by_order(table);
  CHECK(std::string(by_order.weight(by_order.first_weight()).name) == "live_bytes");
  const hprof_site_row dead[] = {{3, 9, 0, 0, 1000, 10}};
  table = table_of(kAllocSites, dead, 1);
  table.order = HPROF_SITE_LIVE_BYTES;
  const StackTable nothing_live(table);
  CHECK(std::string(nothing_live.weight(nothing_live.first_weight()).name) == "allocated_bytes");
  table.row_count = 0;
  CHECK(std::string(by_order.weight(StackTable(table).first_weight()).name) == "live_bytes");
  CHECK((by_order.weight(0).flags & HPROF_COLUMN_STATE) != 0);
  CHECK((by_order.weight(2).flags & HPROF_COLUMN_STATE) == 0);

  const hprof_monitor_row monitors[] = {{2, 30, 9, 4, 0}};
  table = table_of(kMonitorTime, monitors, 1);
  CHECK(lines(table) == Lines{"9: 2 30"});
}

TEST_CASE("tables without traces or without weights have no stacks") {
  const hprof_call_row calls[] = {{1, 2, 3, 4}};
  CHECK_FALSE(StackTable(table_of(kCpuOld, calls, 1)).has_stacks());
  CHECK(lines(table_of(kCpuOld, calls, 1)).empty());
  const hprof_heap_summary_row summary = {1, 2, 3, 4};
  CHECK_FALSE(StackTable(table_of(kHeapSummary, &summary, 1)).has_stacks());
}

TEST_CASE("a vendor's table needs nothing but its columns") {
  const hprof_column columns[] = {
      {"label", nullptr, HPROF_COLUMN_TEXT, HPROF_COLUMN_LEAF, nullptr, nullptr},
      {"load", nullptr, HPROF_COLUMN_REAL, HPROF_COLUMN_WEIGHT | HPROF_COLUMN_TOTAL, "percent", nullptr},
      {"at", nullptr, HPROF_COLUMN_TRACE, 0, nullptr, nullptr},
      {"drift", nullptr, HPROF_COLUMN_INT, HPROF_COLUMN_WEIGHT, nullptr, nullptr},
      {"from", nullptr, HPROF_COLUMN_TRACE, 0, nullptr, nullptr},
      {"id", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr},
  };
  // Made by headers with a larger column.
  struct LargeColumn {
    hprof_column column;
    uint64_t more;
  } large[6];
  for (int i = 0; i < 6; i++) large[i] = {columns[i], 0};
  const hprof_table_schema schema = {sizeof schema,  6,   sizeof(LargeColumn), 0,
                                     "com.acme.x/1", "X", &large[0].column};
  struct Row {
    uint64_t label;
    double load;
    uint64_t at;
    int64_t drift;
    uint64_t from, id, of_its_own;
  };
  const Row rows[] = {{1, 1.5, 7, -3, 70, 0, 0},
                      {2, -1, 8, 4, 80, 0, 0},
                      {3, NAN, 9, 0, 90, 0, 0},
                      {4, 1e300, 9, 1, 90, 0, 0},
                      {5, INFINITY, 9, 1, 0, 0, 0}};
  const hprof_rec_table table = table_of(schema, rows, 5);
  CHECK(lines(table) ==
        Lines{"7: 2 0", "8: 0 4", "9: 0 0", "9: 18446744073709551615 1", "9: 18446744073709551615 1"});
  const StackTable stacks(table);
  CHECK(stacks.leaf_column() == 0);
  CHECK(stacks.first_weight() == 0);
  CHECK((stacks.weight(0).flags & HPROF_COLUMN_TOTAL) != 0);
  CHECK(std::string(unit_of(stacks.weight(0))) == "percent");
  CHECK(std::string(unit_of(stacks.weight(1))) == "count");
  CHECK(stacks.total(0) == UINT64_MAX);
  CHECK(stacks.total(1) == 6);
}

TEST_CASE("events are weighted stacks like the rows of other tables") {
  const hprof_column columns[] = {
      {"at", nullptr, HPROF_COLUMN_TIME, 0, nullptr, nullptr},
      {"time", nullptr, HPROF_COLUMN_NANOSECONDS, HPROF_COLUMN_WEIGHT | HPROF_COLUMN_DURATION, nullptr,
       nullptr},
      {"state", nullptr, HPROF_COLUMN_THREAD_STATE, 0, nullptr, nullptr},
      {"trace", nullptr, HPROF_COLUMN_TRACE, 0, nullptr, nullptr},
  };
  const hprof_table_schema schema = {sizeof schema, 4, sizeof columns[0], 0, "com.acme.x/1", "X", columns};
  struct Row {
    uint64_t at, time, state, trace;
  };
  const Row rows[] = {{1000, 5, HPROF_STATE_WAITING, 7}, {1001, 6, HPROF_STATE_BLOCKED, 7}};
  const hprof_rec_table one = event_of(schema, rows[0]);
  CHECK(one.flags == HPROF_TABLE_EVENTS);
  CHECK(lines(one) == Lines{"7: 5"});
  hprof_rec_table table = table_of(schema, rows, 2);
  table.flags = HPROF_TABLE_EVENTS;
  CHECK(lines(table) == Lines{"7: 5", "7: 6"});
  CHECK(StackTable(table).weight_count() == 1);
  CHECK(StackTable(table).total(0) == 11);
  CHECK(std::string(unit_of(columns[0])) == "nanoseconds");
}
