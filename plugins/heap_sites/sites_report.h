// Makes the report's table of the sites. No VM.
#pragma once

#include <hprof/collector.h>
#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/labels.hpp>
#include <hprof/cpp/report_rows.hpp>
#include <hprof/tables.h>

#include "site_table.h"

namespace hprof::sites {

struct ReportWish {
  bool by_allocation;
  bool incremental;  // what has changed since the last report only
  bool forced_gc;
  uint32_t fraction_bits;      // the sites count in units of 1/2^fraction_bits
  uint64_t sampling_interval;  // bytes per sample; 0: each object is counted
  double cutoff;
  const Labels* labels;  // null: no unit sets contexts
};

// A row of the table, whose last column is there if a unit sets contexts.
using SiteRow = tables::Labelled<hprof_site_row>;

// The order of the table.
struct SiteIsBefore {
  bool by_allocation;
  bool operator()(const hprof_site_row& a, const hprof_site_row& b) const;
};

struct SiteTotals {
  Amount live;
  Amount allocated;
};

// A copy of the sites' numbers for a report, so that threads can go on while it is written. [control]
class SitesReport {
 public:
  // Allocates room for all sites, or for as many as there is memory for.
  SitesReport(const Services& services, const SiteTable& sites, const ReportWish& wish);

  // Copies the sites, and remembers what is reported. Sites that are new since the constructor wait for the
  // next report. The reaper is stopped.
  void collect();
  // After collect().
  hprof_status write_table();
  hprof_status write_summary() const;
  // How many sites there was no room for; none is larger than a row of the table.
  uint64_t left_out() const { return rows_.left_out(); }

 private:
  SiteRow row_of_totals() const;

  const Services& services_;
  const SiteTable& sites_;
  ReportWish wish_;
  uint32_t wanted_;
  ReportRows<SiteRow, SiteIsBefore> rows_;
  bool has_room_;
  SiteTotals totals_ = {};
};

}  // namespace hprof::sites
