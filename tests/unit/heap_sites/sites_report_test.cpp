#include "plugins/heap_sites/sites_report.h"

#include <doctest/doctest.h>

#include "tools/mock/mock_host.h"

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
  struct Table {
    std::vector<hprof_site_row> rows;
    hprof_site_row totals;
    hprof_rec_table record;
  };
  Table write(const ReportWish& wish) {
    SitesReport report(services, sites, wish);
    report.collect();
    CHECK(report.write_table() == HPROF_OK);
    REQUIRE(is_table(mock.written.back(), HPROF_TABLE_ALLOC_SITES));
    const auto& record = mock.written.back().as<hprof_rec_table>();
    return {rows_of<hprof_site_row>(record), *reinterpret_cast<const hprof_site_row*>(record.totals), record};
  }
};

constexpr ReportWish kLive = {false, false, true, 0, 0, 0};

}  // namespace

TEST_CASE("rows are ordered by live bytes, and totals are those of all") {
  Fixture f;
  f.add(1, 10, {10, 160}, {9, 144});
  f.add(2, 11, {5, 500}, {0, 0});
  f.add(3, 12, {1, 4000}, {1, 4000});
  const auto table = f.write(kLive);
  REQUIRE(table.rows.size() == 3);
  CHECK(table.rows[0].owner == 2);
  CHECK(table.rows[1].owner == 1);
  CHECK(table.rows[1].live_objects == 1);
  CHECK(table.rows[1].live_bytes == 16);
  CHECK(table.rows[2].owner == 3);
  CHECK(table.totals.live_bytes == 516);
  CHECK(table.totals.live_objects == 6);
  CHECK(table.totals.allocated_bytes == 4660);
  CHECK(table.totals.allocated_objects == 16);
  CHECK(table.record.flags == HPROF_TABLE_COLLECTED);
  CHECK(table.record.order == HPROF_SITE_LIVE_BYTES);
  CHECK(table.record.period_column == HPROF_NO_COLUMN);
}

TEST_CASE("by allocation the order and the cutoff are those of allocated bytes") {
  Fixture f;
  f.add(1, 10, {10, 1000}, {0, 0});
  f.add(2, 11, {5, 5000}, {5, 5000});
  f.add(3, 12, {1, 10}, {0, 0});
  const auto table = f.write({true, false, false, 0, 0, 0.01});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].owner == 2);
  CHECK(table.rows[1].owner == 1);
  CHECK(table.totals.allocated_bytes == 6010);
  CHECK(table.record.flags == 0);
  CHECK(table.record.order == HPROF_SITE_ALLOCATED_BYTES);
}

TEST_CASE("an incremental report has what has changed since the last one") {
  Fixture f;
  Site& changed = f.add(1, 10, {10, 1000}, {0, 0});
  f.add(2, 11, {5, 5000}, {0, 0});
  Site& ending = f.add(3, 12, {7, 700}, {0, 0});
  ReportWish wish = kLive;
  wish.incremental = true;
  CHECK(f.write(wish).rows.size() == 3);
  CHECK(f.write(wish).rows.size() == 0);
  changed.allocated = {11, 1100};
  ending.freed = {1, 100};
  const auto table = f.write(wish);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].owner == 1);
  CHECK(table.rows[0].allocated_objects == 11);
  CHECK(table.rows[1].owner == 3);
  CHECK((table.record.flags & HPROF_TABLE_CHANGES) != 0);
  CHECK(f.write(kLive).rows.size() == 3);
}

TEST_CASE("what was allocated before a reset is not in the table") {
  Fixture f;
  f.add(1, 10, {10, 1000}, {0, 0}).before = {10, 1000};
  f.add(2, 11, {10, 1000}, {0, 0}).before = {4, 400};
  const auto table = f.write(kLive);
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].allocated_objects == 6);
  CHECK(table.totals.allocated_objects == 6);
}

TEST_CASE("fractions of samples are rounded where they are written") {
  Fixture f;
  f.add(1, 10, {1024 * 3 + 600, 1024 * 100}, {1024, 1024 * 30});
  const auto table = f.write({false, false, false, 10, 524288, 0});
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].allocated_objects == 4);
  CHECK(table.rows[0].allocated_bytes == 100);
  CHECK(table.rows[0].live_objects == 3);
  CHECK(table.rows[0].live_bytes == 70);
  CHECK(table.record.period_column == HPROF_SITE_ALLOCATED_BYTES);
  CHECK(table.record.period == 524288);
}

TEST_CASE("a table without sites has no rows, and the summary has the totals") {
  Fixture f;
  CHECK(f.write(kLive).rows.size() == 0);
  f.add(1, 10, {10, 1000}, {4, 400});
  SitesReport report(f.services, f.sites, kLive);
  report.collect();
  CHECK(report.write_summary() == HPROF_OK);
  REQUIRE(is_table(f.mock.written.back(), HPROF_TABLE_HEAP_SUMMARY));
  const auto summary = rows_of<hprof_heap_summary_row>(f.mock.written.back().as<hprof_rec_table>()).at(0);
  CHECK(summary.live_objects == 6);
  CHECK(summary.live_bytes == 600);
  CHECK(summary.allocated_objects == 10);
  CHECK(summary.allocated_bytes == 1000);
}

TEST_CASE("the totals are those of the rows while sites are added") {
  Fixture f;
  f.add(1, 10, {10, 1000}, {0, 0});
  SitesReport report(f.services, f.sites, kLive);
  f.add(2, 11, {1, 40}, {0, 0});
  report.collect();
  CHECK(report.write_table() == HPROF_OK);
  const auto& record = f.mock.written.back().as<hprof_rec_table>();
  REQUIRE(rows_of<hprof_site_row>(record).size() == 1);
  CHECK(reinterpret_cast<const hprof_site_row*>(record.totals)->allocated_objects == 10);
  CHECK(f.write(kLive).totals.allocated_objects == 11);
}

TEST_CASE("where memory is short the table has the largest sites, and says how many it leaves out") {
  Fixture f;
  constexpr uint32_t kSites = 100;
  for (uint32_t i = 1; i <= kSites; i++) f.add(i, i, {1, i * 37 % 101 * 16}, {0, 0});
  f.mock.memory_limit = f.mock.memory_used + 70 * sizeof(SiteRow);
  SitesReport report(f.services, f.sites, kLive);
  report.collect();
  CHECK(report.left_out() == 36);
  CHECK(report.write_table() == HPROF_OK);
  const auto& record = f.mock.written.back().as<hprof_rec_table>();
  const auto rows = rows_of<hprof_site_row>(record);
  REQUIRE(rows.size() == 64);
  for (uint64_t i = 0; i < rows.size(); i++) CHECK(rows[i].live_bytes == (kSites - i) * 16);
  CHECK(reinterpret_cast<const hprof_site_row*>(record.totals)->live_objects == kSites);
}
