// Windows of tables.
#include "core/modules/report_windows/window.h"

#include <doctest/doctest.h>
#include <vector>

#include <hprof/cpp/core_tables.hpp>

#include "platform/platform.h"

using namespace hprof;

namespace {

constexpr hprof_trace_serial kNothing = 99;

struct Fixture {
  MemoryAccount memory;
  Windows windows;

  Fixture() {
    memory.open(
        {platform::allocate_zeroed, platform::deallocate, platform::reserve_lazy, platform::release_lazy}, 0);
  }
  ~Fixture() {
    windows.forget();
    CHECK(memory.used() == 0);
  }

  // What is new of a table that is all of the report.
  template <class Row>
  std::vector<Row> cut(const hprof_table_schema& schema, const std::vector<Row>& rows, uint32_t order,
                       double cutoff = 0, bool keeps = true) {
    windows.begin(memory);
    std::vector<Row> found = cut_one(schema, rows, order, cutoff);
    keeps ? windows.keep() : windows.drop();
    return found;
  }

  template <class Row>
  std::vector<Row> cut_one(const hprof_table_schema& schema, const std::vector<Row>& rows, uint32_t order,
                           double cutoff = 0) {
    hprof_rec_table table = table_of(schema, rows.data(), rows.size());
    const Row totals = {};
    table.totals = cells_of(&totals);
    table.order = order;
    REQUIRE(windows.cut(table, cutoff, kNothing, &window) == HPROF_OK);
    std::vector<Row> found;
    for (uint64_t i = 0; i < window.row_count; i++)
      found.push_back(*reinterpret_cast<const Row*>(hprof_row_at(&window, i)));
    return found;
  }

  std::vector<hprof_cpu_row> samples(const std::vector<hprof_cpu_row>& rows, double cutoff = 0,
                                     bool keeps = true) {
    return cut(kCpuSamples, rows, HPROF_CPU_COUNT, cutoff, keeps);
  }

  hprof_rec_table window = {};
};

bool is(const hprof_cpu_row& row, uint64_t count, uint64_t time, uint64_t trace) {
  return row.count == count && row.time_ns == time && row.trace == trace;
}

}  // namespace

TEST_CASE("the first window has all, the next ones what is new, ranked") {
  Fixture f;
  auto rows = f.samples({{5, 50, 1}, {3, 30, 2}});
  REQUIRE(rows.size() == 2);
  CHECK(is(rows[0], 5, 50, 1));
  rows = f.samples({{6, 60, 1}, {3, 30, 2}, {2, 20, 3}});
  REQUIRE(rows.size() == 2);
  CHECK(is(rows[0], 2, 20, 3));
  CHECK(is(rows[1], 1, 10, 1));
}

TEST_CASE("totals are those of the window, rows below the cutoff included") {
  Fixture f;
  f.samples({{100, 0, 1}});
  f.windows.begin(f.memory);
  auto rows =
      f.cut_one(kCpuSamples, std::vector<hprof_cpu_row>{{190, 0, 1}, {10, 0, 2}}, HPROF_CPU_COUNT, 0.2);
  CHECK(rows.size() == 1);
  CHECK(f.window.totals[HPROF_CPU_COUNT].u == 100);
  CHECK(f.window.cutoff == 0.2);
}

TEST_CASE("a window that was not written is in the next one") {
  Fixture f;
  f.samples({{5, 50, 1}});
  CHECK(is(f.samples({{7, 70, 1}}, 0, false)[0], 2, 20, 1));
  CHECK(is(f.samples({{9, 90, 1}})[0], 4, 40, 1));
}

TEST_CASE("where nothing is new a stack says so") {
  Fixture f;
  f.samples({{5, 50, 1}});
  const auto rows = f.samples({{5, 50, 1}});
  REQUIRE(rows.size() == 1);
  CHECK(is(rows[0], 0, 0, kNothing));
}

TEST_CASE("a number that gets smaller has nothing new, and is not counted again when it comes back") {
  Fixture f;
  f.samples({{5, 50, 1}, {4, 40, 2}});
  CHECK(is(f.samples({{3, 50, 1}})[0], 0, 0, kNothing));
  CHECK(is(f.samples({{6, 60, 1}, {5, 40, 2}})[0], 1, 10, 1));
  CHECK(is(f.samples({{5, 40, 2}})[0], 0, 0, kNothing));
  CHECK(is(f.samples({{7, 60, 1}, {7, 40, 2}})[0], 2, 0, 2));
}

TEST_CASE("rows of one key are one row") {
  Fixture f;
  CHECK(is(f.samples({{3, 30, 1}, {4, 40, 1}})[0], 7, 70, 1));
  CHECK(is(f.samples({{8, 80, 1}})[0], 1, 10, 1));
}

TEST_CASE("what lives stays as it is, and keeps its row") {
  Fixture f;
  const std::vector<hprof_site_row> sites = {{1, 2, 100, 1, 1000, 10}, {1, 3, 0, 0, 50, 5}};
  CHECK(f.cut(kAllocSites, sites, HPROF_SITE_LIVE_BYTES).size() == 2);
  const auto rows = f.cut(kAllocSites, sites, HPROF_SITE_LIVE_BYTES);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].trace == 2);
  CHECK(rows[0].live_bytes == 100);
  CHECK(rows[0].allocated_bytes == 0);
}

TEST_CASE("rows that differ in a number only are told apart if it is a key, else the table is refused") {
  struct Row {
    uint64_t text;
    int64_t port;
    uint64_t count;
  };
  hprof_column columns[] = {{"host", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, nullptr},
                            {"port", nullptr, HPROF_COLUMN_INT, 0, nullptr, nullptr},
                            {"calls", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr}};
  const hprof_table_schema schema = {sizeof schema, 3,      sizeof(hprof_column), 0, "com.acme.ports/1",
                                     "PORTS",       columns};
  const std::vector<Row> rows = {{1, 80, 5}, {1, 443, 7}};
  Fixture f;
  const auto status_of = [&](const std::vector<Row>& of) {
    f.windows.begin(f.memory);
    hprof_rec_table table = table_of(schema, of.data(), of.size());
    const hprof_status status = f.windows.cut(table, 0, kNothing, &f.window);
    f.windows.keep();
    return status;
  };
  CHECK(status_of(rows) == HPROF_FAILED);
  CHECK(status_of({{1, 80, 5}, {2, 443, 7}}) == HPROF_OK);
  SUBCASE("a key besides a name") { columns[0].flags = HPROF_COLUMN_KEY; }
  SUBCASE("a key alone, with a name that may change") {}
  columns[1].flags = HPROF_COLUMN_KEY;
  f.windows.forget();
  CHECK(f.cut(schema, rows, HPROF_NO_COLUMN).size() == 2);
  const auto now = f.cut(schema, std::vector<Row>{{1, 80, 5}, {1, 443, 9}}, HPROF_NO_COLUMN);
  REQUIRE(now.size() == 1);
  CHECK(now[0].port == 443);
  CHECK(now[0].count == 2);
}

TEST_CASE("several rows without any key are refused, one is not") {
  struct Row {
    uint64_t count;
  };
  const hprof_column column = {"calls", nullptr, HPROF_COLUMN_COUNT, 0, nullptr, nullptr};
  const hprof_table_schema schema = {sizeof schema, 1,      sizeof(hprof_column), 0, "com.acme.calls/1",
                                     "CALLS",       &column};
  Fixture f;
  for (const auto& rows : {std::vector<Row>{{3}}, std::vector<Row>{{3}, {4}}}) {
    f.windows.begin(f.memory);
    hprof_rec_table table = table_of(schema, rows.data(), rows.size());
    CHECK(f.windows.cut(table, 0, kNothing, &f.window) == (rows.size() == 1 ? HPROF_OK : HPROF_FAILED));
    f.windows.drop();
  }
}

TEST_CASE("after a reset the next window has all") {
  Fixture f;
  f.samples({{5, 50, 1}});
  f.windows.forget();
  CHECK(is(f.samples({{2, 20, 1}})[0], 2, 20, 1));
}

TEST_CASE("several tables of a report are told apart") {
  Fixture f;
  using Rows = std::vector<hprof_cpu_row>;
  const auto report = [&](uint64_t first, uint64_t second, uint64_t calls) {
    f.windows.begin(f.memory);
    Rows found = f.cut_one(kCpuSamples, Rows{{first, 0, 1}}, HPROF_CPU_COUNT);
    for (const auto& row : f.cut_one(kCpuSamples, Rows{{second, 0, 1}}, HPROF_CPU_COUNT))
      found.push_back(row);
    for (const auto& row : f.cut_one(kCpuTimes, Rows{{calls, 0, 1}}, HPROF_CPU_COUNT)) found.push_back(row);
    f.windows.keep();
    return found;
  };
  report(1, 10, 100);
  const Rows rows = report(2, 12, 103);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].count == 1);
  CHECK(rows[1].count == 2);
  CHECK(rows[2].count == 3);
}

TEST_CASE("tables of changes and of events pass as they are") {
  Fixture f;
  const std::vector<hprof_cpu_row> rows = {{5, 50, 1}};
  for (const uint32_t flag : {HPROF_TABLE_CHANGES, HPROF_TABLE_EVENTS, HPROF_TABLE_EVENTS}) {
    f.windows.begin(f.memory);
    hprof_rec_table table = table_of(kCpuSamples, rows.data(), rows.size());
    table.flags = flag;
    REQUIRE(f.windows.cut(table, 0, kNothing, &f.window) == HPROF_OK);
    CHECK(f.window.rows == table.rows);
    f.windows.keep();
  }
}

TEST_CASE("the sums of a day's windows are the whole, in memory that does not grow") {
  constexpr int kWindows = 24 * 60 * 6;  // every=10
  Fixture f;
  std::vector<hprof_cpu_row> whole, sums;
  for (uint64_t trace = 0; trace < 60; trace++) {
    whole.push_back({0, 0, trace + 1});
    sums.push_back({0, 0, trace + 1});
  }
  uint64_t seed = 1, used = 0;
  for (int i = 0; i < kWindows; i++) {
    for (auto& row : whole) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      row.count += seed >> 60;
    }
    for (const auto& row : f.samples(whole)) {
      if (row.trace != kNothing || row.count != 0) sums[row.trace - 1].count += row.count;
    }
    if (i == 1) used = f.memory.used();
    if (i > 1) REQUIRE(f.memory.used() == used);
  }
  for (size_t i = 0; i < whole.size(); i++) CHECK(sums[i].count == whole[i].count);
}

TEST_CASE("without memory a window is not made, and nothing is lost") {
  Fixture f;
  f.samples({{5, 50, 1}});
  const std::vector<hprof_cpu_row> rows = {{7, 70, 1}};
  bool made = false;
  for (uint64_t room = 0; !made; room += 16) {
    const uint64_t taken = f.memory.used();
    MemoryAccount few;
    few.open(
        {platform::allocate_zeroed, platform::deallocate, platform::reserve_lazy, platform::release_lazy},
        taken + room + 1);
    REQUIRE(few.charge(taken));
    Windows fresh;
    fresh.begin(few);
    hprof_rec_table table = table_of(kCpuSamples, rows.data(), rows.size());
    table.order = HPROF_CPU_COUNT;
    made = fresh.cut(table, 0, kNothing, &f.window) == HPROF_OK;
    fresh.forget();
    few.uncharge(taken);
    CHECK(few.used() == 0);
  }
}
