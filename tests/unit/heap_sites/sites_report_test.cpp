#include "plugins/heap_sites/sites_report.h"

#include <doctest/doctest.h>

#include "tests/mock/mock_host.h"

using namespace hprof;
using namespace hprof::sites;

namespace {

struct Fixture {
  MockHost mock;
  Services services{mock.host()};
  SiteTable sites;

  Fixture() { REQUIRE(sites.open(services, 100)); }
  ~Fixture() {
    sites.close();
    CHECK(mock.memory_used == 0);
  }
  Site& add(uint32_t owner, uint32_t trace, Amount allocated, Amount freed) {
    Site& site = sites[sites.find(owner, trace)];
    site.allocated = allocated;
    site.freed = freed;
    return site;
  }
  const hprof_rec_alloc_sites& write(const ReportWish& wish) {
    CHECK(write_table(services, sites, wish) == HPROF_OK);
    return mock.written.back().as<hprof_rec_alloc_sites>();
  }
};

constexpr ReportWish kLive = {false, false, true, 0, 0};

}  // namespace

TEST_CASE("rows are ordered by live bytes, and totals are those of all") {
  Fixture f;
  f.add(1, 10, {10, 160}, {9, 144});
  f.add(2, 11, {5, 500}, {0, 0});
  f.add(3, 12, {1, 4000}, {1, 4000});
  auto& table = f.write(kLive);
  REQUIRE(table.row_count == 3);
  CHECK(table.rows[0].owner == 2);
  CHECK(table.rows[1].owner == 1);
  CHECK(table.rows[1].live_objects == 1);
  CHECK(table.rows[1].live_bytes == 16);
  CHECK(table.rows[2].owner == 3);
  CHECK(table.live_bytes == 516);
  CHECK(table.live_objects == 6);
  CHECK(table.allocated_bytes == 4660);
  CHECK(table.allocated_objects == 16);
  CHECK(table.flags == HPROF_SITES_FORCED_GC);
}

TEST_CASE("by allocation the order and the cutoff are those of allocated bytes") {
  Fixture f;
  f.add(1, 10, {10, 1000}, {0, 0});
  f.add(2, 11, {5, 5000}, {5, 5000});
  f.add(3, 12, {1, 10}, {0, 0});
  auto& table = f.write({true, false, false, 0, 0.01});
  REQUIRE(table.row_count == 2);
  CHECK(table.rows[0].owner == 2);
  CHECK(table.rows[1].owner == 1);
  CHECK(table.allocated_bytes == 6010);
  CHECK(table.flags == HPROF_SITES_BY_ALLOCATION);
}

TEST_CASE("an incremental report has what has changed since the last one") {
  Fixture f;
  Site& changed = f.add(1, 10, {10, 1000}, {0, 0});
  f.add(2, 11, {5, 5000}, {0, 0});
  Site& ending = f.add(3, 12, {7, 700}, {0, 0});
  ReportWish wish = kLive;
  wish.incremental = true;
  CHECK(f.write(wish).row_count == 3);
  CHECK(f.write(wish).row_count == 0);
  changed.allocated = {11, 1100};
  ending.freed = {1, 100};
  auto& table = f.write(wish);
  REQUIRE(table.row_count == 2);
  CHECK(table.rows[0].owner == 1);
  CHECK(table.rows[0].allocated_objects == 11);
  CHECK(table.rows[1].owner == 3);
  CHECK((table.flags & HPROF_SITES_INCREMENTAL) != 0);
  CHECK(f.write(kLive).row_count == 3);
}

TEST_CASE("what was allocated before a reset is not in the table") {
  Fixture f;
  f.add(1, 10, {10, 1000}, {0, 0}).before = {10, 1000};
  f.add(2, 11, {10, 1000}, {0, 0}).before = {4, 400};
  auto& table = f.write(kLive);
  REQUIRE(table.row_count == 1);
  CHECK(table.rows[0].allocated_objects == 6);
  CHECK(table.allocated_objects == 6);
}

TEST_CASE("fractions of samples are rounded where they are written") {
  Fixture f;
  f.add(1, 10, {1024 * 3 + 600, 1024 * 100}, {1024, 1024 * 30});
  auto& table = f.write({false, false, false, 10, 0});
  REQUIRE(table.row_count == 1);
  CHECK(table.rows[0].allocated_objects == 4);
  CHECK(table.rows[0].allocated_bytes == 100);
  CHECK(table.rows[0].live_objects == 3);
  CHECK(table.rows[0].live_bytes == 70);
}

TEST_CASE("a table without sites has no rows, and the summary has the totals") {
  Fixture f;
  CHECK(f.write(kLive).row_count == 0);
  f.add(1, 10, {10, 1000}, {4, 400});
  CHECK(write_summary(f.services, add_up(f.sites, 0)) == HPROF_OK);
  auto& summary = f.mock.written.back().as<hprof_rec_heap_summary>();
  CHECK(summary.live_objects == 6);
  CHECK(summary.live_bytes == 600);
  CHECK(summary.allocated_objects == 10);
  CHECK(summary.allocated_bytes == 1000);
}
