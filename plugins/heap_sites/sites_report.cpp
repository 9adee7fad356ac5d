#include "sites_report.h"

#include <algorithm>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/cutoff.hpp>

namespace hprof::sites {

constexpr uint64_t kFewestRows = 64;

static bool has_changed(const Site& site) {
  return site.allocated.objects != site.reported_allocated || site.live().objects != site.reported_live;
}

SitesReport::SitesReport(const Services& services, const SiteTable& sites, const ReportWish& wish)
    : services_(services),
      sites_(sites),
      wish_(wish),
      wanted_(sites.last()),
      room_(wanted_),
      rows_(services.allocate_most<hprof_site_row>(&room_, kFewestRows)) {}

// Without room for all rows it keeps the largest, in a heap whose first row is the last in the order.
void SitesReport::add(const hprof_site_row& row) {
  const auto before = [this](const hprof_site_row& a, const hprof_site_row& b) { return is_before(a, b); };
  if (row_count_ < room_) {
    rows_[row_count_++] = row;
    if (row_count_ == room_) std::make_heap(rows_, rows_ + row_count_, before);
    return;
  }
  left_out_++;
  if (!is_before(row, rows_[0])) return;
  std::pop_heap(rows_, rows_ + row_count_, before);
  rows_[row_count_ - 1] = row;
  std::push_heap(rows_, rows_ + row_count_, before);
}

void SitesReport::collect() {
  for (uint32_t i = 1; i <= sites_.last(); i++) {
    Site& site = sites_[i];
    Amount live = site.live(), made = site.since();
    totals_.live.objects += live.objects;
    totals_.live.bytes += live.bytes;
    totals_.allocated.objects += made.objects;
    totals_.allocated.bytes += made.bytes;
    if (i > wanted_ || rows_ == nullptr) continue;
    const bool changed = has_changed(site);
    site.reported_allocated = site.allocated.objects;
    site.reported_live = live.objects;
    live = whole(live, wish_.fraction_bits);
    made = whole(made, wish_.fraction_bits);
    if (made.objects == 0 || (wish_.incremental && !changed)) continue;
    add({site.owner, site.trace, live.bytes, live.objects, made.bytes, made.objects});
  }
  totals_ = {whole(totals_.live, wish_.fraction_bits), whole(totals_.allocated, wish_.fraction_bits)};
}

bool SitesReport::is_before(const hprof_site_row& a, const hprof_site_row& b) const {
  if (!wish_.by_allocation && a.live_bytes != b.live_bytes) return a.live_bytes > b.live_bytes;
  if (a.allocated_bytes != b.allocated_bytes) return a.allocated_bytes > b.allocated_bytes;
  return a.trace != b.trace ? a.trace < b.trace : a.owner < b.owner;
}

hprof_status SitesReport::write_table() {
  if (rows_ == nullptr && room_ != 0) return HPROF_NO_MEMORY;
  std::sort(rows_, rows_ + row_count_,
            [this](const hprof_site_row& a, const hprof_site_row& b) { return is_before(a, b); });
  const double least =
      least_shown(wish_.cutoff, wish_.by_allocation ? totals_.allocated.bytes : totals_.live.bytes);
  uint64_t kept = 0;
  while (kept < row_count_ && static_cast<double>(wish_.by_allocation ? rows_[kept].allocated_bytes
                                                                      : rows_[kept].live_bytes) >= least)
    kept++;
  const hprof_site_row totals = row_of_totals();
  hprof_rec_table table = table_of(kAllocSites, rows_, kept);
  table.created_ms = services_.clock->wall_ms(services_.host);
  table.totals = cells_of(&totals);
  table.flags =
      (wish_.incremental ? HPROF_TABLE_CHANGES : 0u) | (wish_.forced_gc ? HPROF_TABLE_COLLECTED : 0u);
  table.order = wish_.by_allocation ? HPROF_SITE_ALLOCATED_BYTES : HPROF_SITE_LIVE_BYTES;
  table.cutoff = wish_.cutoff;
  if (wish_.sampling_interval != 0) {
    table.period_column = HPROF_SITE_ALLOCATED_BYTES;
    table.period = wish_.sampling_interval;
  }
  return services_.emit->write(services_.host, &table.head);
}

hprof_site_row SitesReport::row_of_totals() const {
  return {0, 0, totals_.live.bytes, totals_.live.objects, totals_.allocated.bytes, totals_.allocated.objects};
}

hprof_status SitesReport::write_summary() const {
  const hprof_heap_summary_row row = {totals_.live.bytes, totals_.live.objects, totals_.allocated.bytes,
                                      totals_.allocated.objects};
  hprof_rec_table table = table_of(kHeapSummary, &row, 1);
  table.created_ms = services_.clock->wall_ms(services_.host);
  return services_.emit->write(services_.host, &table.head);
}

}  // namespace hprof::sites
