// Line tables.
#include "core/model/line_table.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

#include "tests/unit/base/test_memory.h"

using namespace hprof;
using hprof::test::TestMemory;

namespace {

struct Storage {
  Storage() { REQUIRE(bump.create(memory, 1 << 20, Backing::kLazy)); }
  ~Storage() { bump.destroy(); }
  const LineTable& make(const std::vector<LineStart>& rows) {
    const LineTable* table = make_line_table(bump, rows.data(), static_cast<uint32_t>(rows.size()));
    REQUIRE(table);
    return *table;
  }
  TestMemory memory;
  Bump bump;
};

}  // namespace

TEST_CASE("a bytecode index has the line of the last row at or before it") {
  Storage storage;
  const LineTable& table = storage.make({{4, 10}, {9, 12}, {20, 11}});
  CHECK(line_of(table, 0) == HPROF_LINE_UNKNOWN);
  CHECK(line_of(table, 3) == HPROF_LINE_UNKNOWN);
  CHECK(line_of(table, 4) == 10);
  CHECK(line_of(table, 8) == 10);
  CHECK(line_of(table, 9) == 12);
  CHECK(line_of(table, 19) == 12);
  CHECK(line_of(table, 20) == 11);
  CHECK(line_of(table, 65535) == 11);
}

TEST_CASE("rows in any order give the same table") {
  std::vector<LineStart> rows;
  for (uint32_t i = 0; i < 1000; ++i) {
    rows.push_back({static_cast<uint16_t>(i * 7919 % 65536), static_cast<uint16_t>(i + 1)});
  }
  std::vector<LineStart> sorted = rows;
  std::sort(sorted.begin(), sorted.end(), [](LineStart a, LineStart b) { return a.bci < b.bci; });
  Storage storage;
  const LineTable& table = storage.make(rows);
  CHECK(same_rows(table, sorted.data(), 1000));
  std::reverse(rows.begin(), rows.end());
  CHECK(same_rows(storage.make(rows), sorted.data(), 1000));
  CHECK_FALSE(same_rows(table, sorted.data(), 999));
}

TEST_CASE("an empty table knows no line") {
  Storage storage;
  const LineTable& table = storage.make({});
  CHECK(line_of(table, 0) == HPROF_LINE_UNKNOWN);
}

TEST_CASE("full storage gives no table") {
  TestMemory memory;
  Bump bump;
  REQUIRE(bump.create(memory, 16, Backing::kLazy));
  const LineStart rows[4] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
  CHECK(make_line_table(bump, rows, 4) == nullptr);
  CHECK(make_line_table(bump, rows, 3) != nullptr);
  bump.destroy();
}
