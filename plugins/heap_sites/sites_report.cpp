#include "plugins/heap_sites/sites_report.h"

#include <algorithm>
#include <cstring>

#include <hprof/cpp/ctime_text.hpp>
#include <hprof/cpp/cutoff.hpp>

namespace hprof::sites {

static uint64_t whole(uint64_t value, uint32_t bits) {
  return bits == 0 ? value : (value + (uint64_t{1} << (bits - 1))) >> bits;
}

static Amount whole(Amount amount, uint32_t bits) {
  return {whole(amount.objects, bits), whole(amount.bytes, bits)};
}

SiteTotals add_up(const SiteTable& sites, uint32_t fraction_bits) {
  SiteTotals totals = {};
  for (uint32_t i = 1; i <= sites.last(); i++) {
    Amount live = sites[i].live(), made = sites[i].since();
    totals.live.objects += live.objects;
    totals.live.bytes += live.bytes;
    totals.allocated.objects += made.objects;
    totals.allocated.bytes += made.bytes;
  }
  return {whole(totals.live, fraction_bits), whole(totals.allocated, fraction_bits)};
}

static bool has_changed(const Site& site) {
  return site.allocated.objects != site.reported_allocated || site.live().objects != site.reported_live;
}

static uint64_t collect(const SiteTable& sites, const ReportWish& wish, hprof_site_row* rows) {
  uint64_t used = 0;
  for (uint32_t i = 1; i <= sites.last(); i++) {
    Site& site = sites[i];
    bool changed = has_changed(site);
    Amount live = whole(site.live(), wish.fraction_bits), made = whole(site.since(), wish.fraction_bits);
    site.reported_allocated = site.allocated.objects;
    site.reported_live = site.live().objects;
    if (made.objects == 0 || (wish.incremental && !changed)) continue;
    rows[used++] = {site.owner, site.trace, live.bytes, live.objects, made.bytes, made.objects};
  }
  return used;
}

static bool less_live(const hprof_site_row& a, const hprof_site_row& b) {
  if (a.live_bytes != b.live_bytes) return a.live_bytes > b.live_bytes;
  if (a.allocated_bytes != b.allocated_bytes) return a.allocated_bytes > b.allocated_bytes;
  return a.trace != b.trace ? a.trace < b.trace : a.owner < b.owner;
}

static bool less_allocated(const hprof_site_row& a, const hprof_site_row& b) {
  if (a.allocated_bytes != b.allocated_bytes) return a.allocated_bytes > b.allocated_bytes;
  return a.trace != b.trace ? a.trace < b.trace : a.owner < b.owner;
}

hprof_status write_table(const Services& services, const SiteTable& sites, const ReportWish& wish) {
  const uint64_t room = sites.last();
  auto* rows = services.allocate<hprof_site_row>(room);
  if (rows == nullptr && room != 0) return HPROF_NO_MEMORY;
  SiteTotals totals = add_up(sites, wish.fraction_bits);
  const uint64_t found = collect(sites, wish, rows);
  std::sort(rows, rows + found, wish.by_allocation ? less_allocated : less_live);
  const double least =
      least_shown(wish.cutoff, wish.by_allocation ? totals.allocated.bytes : totals.live.bytes);
  uint64_t kept = 0;
  while (kept < found && static_cast<double>(wish.by_allocation ? rows[kept].allocated_bytes
                                                                : rows[kept].live_bytes) >= least)
    kept++;
  CtimeText created = ctime_now(services.host, services.io);
  hprof_rec_alloc_sites table;
  memset(&table, 0, sizeof table);
  table.head.size = sizeof table;
  table.head.kind = HPROF_RECORD_ALLOC_SITES;
  table.created = created.text;
  table.flags = (wish.incremental ? HPROF_SITES_INCREMENTAL : 0u) |
                (wish.by_allocation ? HPROF_SITES_BY_ALLOCATION : 0u) |
                (wish.forced_gc ? HPROF_SITES_FORCED_GC : 0u);
  table.cutoff = wish.cutoff;
  table.live_bytes = totals.live.bytes;
  table.live_objects = totals.live.objects;
  table.allocated_bytes = totals.allocated.bytes;
  table.allocated_objects = totals.allocated.objects;
  table.row_count = kept;
  table.rows = rows;
  hprof_status status = services.emit->write(services.host, &table.head);
  services.release(rows, room);
  return status;
}

hprof_status write_summary(const Services& services, const SiteTotals& totals) {
  hprof_rec_heap_summary summary = {{sizeof(summary), HPROF_RECORD_HEAP_SUMMARY, 0},
                                    totals.live.bytes,
                                    totals.live.objects,
                                    totals.allocated.bytes,
                                    totals.allocated.objects};
  return services.emit->write(services.host, &summary.head);
}

}  // namespace hprof::sites
