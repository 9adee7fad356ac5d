// How large the tables are made.
#include "core/model/limits.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

#include "core/model/line_table.h"
#include "tests/unit/base/test_memory.h"
#include "tests/unit/model/model_fixture.h"

using namespace hprof;
using namespace hprof::test;
using hprof::test::TestMemory;

TEST_CASE("halving ends at the smallest tables, which still work") {
  ModelLimits limits = ModelLimits::standard();
  int times = 0;
  while (limits.halve()) ++times;
  CHECK(times > 5);
  CHECK(limits.room() < 256 * 1024);
  ModelFixture f(limits);
  REQUIRE(f.is_created);
  CHECK(f.model->synthetic_frame("JVM", "gc") != FrameId::kNone);
}

TEST_CASE("a fixed model takes all of its memory at creation and none later") {
  const ModelLimits limits = ModelLimits::small(4 * 1024 * 1024, false);
  ModelFixture f(limits, 5 * 1024 * 1024);
  REQUIRE(f.is_created);
  CHECK(f.memory.used() == limits.room());
  CHECK(held_regions == 0);
  for (int i = 0; i < 5000; ++i) f.model->synthetic_frame("JVM", std::to_string(i).c_str());
  CHECK(f.memory.used() == limits.room());
}

TEST_CASE("the standard model costs address space, not memory") {
  ModelFixture f(ModelLimits::standard());
  REQUIRE(f.is_created);
  CHECK(f.memory.used() < 1024 * 1024);
  CHECK(f.model->limits().strings == ModelLimits::standard().strings);
}

TEST_CASE("where address space is limited the tables become smaller") {
  largest_region = 8 * 1024 * 1024;
  {
    ModelFixture f(ModelLimits::standard());
    REQUIRE(f.is_created);
    CHECK(f.model->limits().strings < ModelLimits::standard().strings);
    CHECK(f.model->string("x") != StringId::kNone);
  }
  largest_region = 1000;
  {
    ModelFixture f(ModelLimits::standard());
    CHECK_FALSE(f.is_created);
    CHECK(f.model->string("x") == StringId::kNone);
    CHECK(f.model->thread_name("main") == StringId::kNone);
    CHECK_FALSE(f.model->enter_method(&f, {}));
  }
  largest_region = UINT64_MAX;
}

TEST_CASE("small limits use what they are given, and the method book has more than half of it") {
  uint32_t methods = 0, threads = 0;
  for (uint64_t bytes = 256 * 1024; bytes <= 8192 * 1024; bytes += 64 * 1024) {
    const ModelLimits book = ModelLimits::small(bytes, true);
    const ModelLimits none = ModelLimits::small(bytes, false);
    CHECK(book.room() <= bytes);
    CHECK(none.room() <= bytes);
    CHECK(book.room() > bytes / 10 * 8);
    CHECK(none.room() > bytes / 10 * 9);
    CHECK(MethodMap::room(book.method_map) > bytes / 2);
    CHECK(none.traces > book.traces);
    CHECK(none.methods > methods);
    CHECK(none.threads >= threads);
    CHECK(book.backing == Backing::kFixed);
    CHECK((none.threads & (none.threads - 1)) == 0);
    methods = none.methods;
    threads = none.threads;
  }
  CHECK(threads >= 1024);
}

// Line tables.
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
