#include "sites_report.h"

#include <hprof/cpp/cutoff.hpp>

namespace hprof::sites {

static constexpr auto kLabelledColumns = tables::with_labels(tables::kAllocSitesColumns);
static constexpr hprof_table_schema kLabelledSites =
    tables::schema<SiteRow>(HPROF_TABLE_ALLOC_SITES, kAllocSites.title, kLabelledColumns.at);

static bool has_changed(const Site& site) {
  return site.allocated.objects != site.reported_allocated || site.live().objects != site.reported_live;
}

SitesReport::SitesReport(const Services& services, const SiteTable& sites, const ReportWish& wish)
    : services_(services),
      sites_(sites),
      wish_(wish),
      wanted_(sites.last()),
      rows_(services, {wish.by_allocation}),
      has_room_(rows_.open(wanted_)) {}

void SitesReport::collect() {
  for (uint32_t i = 1; i <= wanted_; i++) {
    Site& site = sites_[i];
    Amount live = site.live(), made = site.since();
    totals_.live.objects += live.objects;
    totals_.live.bytes += live.bytes;
    totals_.allocated.objects += made.objects;
    totals_.allocated.bytes += made.bytes;
    if (!has_room_) continue;
    const bool changed = has_changed(site);
    site.reported_allocated = site.allocated.objects;
    site.reported_live = live.objects;
    live = whole(live, wish_.fraction_bits);
    made = whole(made, wish_.fraction_bits);
    if (made.objects == 0 || (wish_.incremental && !changed)) continue;
    rows_.add({{site.owner, site.trace, live.bytes, live.objects, made.bytes, made.objects}, 0});
  }
  totals_ = {whole(totals_.live, wish_.fraction_bits), whole(totals_.allocated, wish_.fraction_bits)};
}

bool SiteIsBefore::operator()(const hprof_site_row& a, const hprof_site_row& b) const {
  if (!by_allocation && a.live_bytes != b.live_bytes) return a.live_bytes > b.live_bytes;
  if (a.allocated_bytes != b.allocated_bytes) return a.allocated_bytes > b.allocated_bytes;
  return a.trace != b.trace ? a.trace < b.trace : a.owner < b.owner;
}

hprof_status SitesReport::write_table() {
  if (!has_room_) return HPROF_NO_MEMORY;
  rows_.sort();
  const double least =
      least_shown(wish_.cutoff, wish_.by_allocation ? totals_.allocated.bytes : totals_.live.bytes);
  SiteRow* rows = rows_.data();
  uint64_t kept = 0;
  while (kept < rows_.size() && static_cast<double>(wish_.by_allocation ? rows[kept].allocated_bytes
                                                                        : rows[kept].live_bytes) >= least)
    kept++;
  for (uint64_t i = 0; i < kept && wish_.labels != nullptr; i++)
    rows[i].labels = wish_.labels->set_of(static_cast<hprof_trace_serial>(rows[i].trace));
  const SiteRow totals = row_of_totals();
  hprof_rec_table table = table_of(wish_.labels != nullptr ? kLabelledSites : kAllocSites, rows, kept);
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

SiteRow SitesReport::row_of_totals() const {
  return {
      {0, 0, totals_.live.bytes, totals_.live.objects, totals_.allocated.bytes, totals_.allocated.objects},
      0};
}

hprof_status SitesReport::write_summary() const {
  const hprof_heap_summary_row row = {totals_.live.bytes, totals_.live.objects, totals_.allocated.bytes,
                                      totals_.allocated.objects};
  hprof_rec_table table = table_of(kHeapSummary, &row, 1);
  table.created_ms = services_.clock->wall_ms(services_.host);
  return services_.emit->write(services_.host, &table.head);
}

}  // namespace hprof::sites
