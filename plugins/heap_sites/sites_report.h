// Sites to a table. No VM.
#pragma once

#include <hprof/collector.h>
#include <hprof/cpp/services.hpp>

#include "plugins/heap_sites/site_table.h"

namespace hprof::sites {

struct ReportWish {
  bool by_allocation;
  bool incremental;  // what has changed since the last report only
  bool forced_gc;
  uint32_t fraction_bits;  // the sites count in 1/2^this
  double cutoff;
};

struct SiteTotals {
  Amount live;
  Amount allocated;
};

// Of all sites.
SiteTotals add_up(const SiteTable& sites, uint32_t fraction_bits);
// Writes the table, and remembers what was reported. [control]
hprof_status write_table(const Services& services, const SiteTable& sites, const ReportWish& wish);
hprof_status write_summary(const Services& services, const SiteTotals& totals);

}  // namespace hprof::sites
