// The tables of a binary file: sites, samples, settings.
#include <cinttypes>

#include "tools/format/value_text.h"
#include "tools/hprof/check/binary_checker.h"

namespace hprof::tool {

void BinaryChecker::alloc_sites(const RecordHead& head) {
  const SitesHead sites = read_sites(in_);
  const double cutoff = real_value(HPROF_TYPE_FLOAT, sites.cutoff);
  if (!in_.ok() || head.length != 34 + uint64_t{sites.rows} * 25) {
    log_.report(Rule::kRecordLength, head.offset,
                "ALLOC SITES record of %" PRIu64 " bytes, expected %" PRIu64 " for %" PRIu32 " sites",
                head.length, 34 + uint64_t{sites.rows} * 25, sites.rows);
    return;
  }
  if (sites.flags > 7)
    log_.report(Rule::kSitesFlags, head.body(), "flags 0x%04x, expected 0x0000 to 0x0007", sites.flags);
  if (!(cutoff >= 0)) {
    log_.report(Rule::kCutoff, head.body() + 2, "cutoff %g, expected a 4-byte float of 0 or more", cutoff);
  }
  site_rows(head, sites);
}

void BinaryChecker::site_rows(const RecordHead& head, const SitesHead& sites) {
  uint64_t live_sum = 0, allocated_sum = 0, last = UINT64_MAX;
  SiteRow row;
  for (uint64_t offset = in_.offset(), i = 0; i < sites.rows && read_row(in_, &row);
       offset = in_.offset(), ++i) {
    if (row.array != 0 && width_of(row.array, 4) == 0) {
      log_.report(Rule::kSitesArray, offset, "array indicator %u, expected 0, 2 or 4 to 11", row.array);
    }
    if (definitions_.classes.count(row.class_serial) == 0) {
      log_.report(Rule::kSitesClass, offset,
                  "class serial number %" PRIu32 ", expected its LOAD CLASS before", row.class_serial);
    }
    need_trace(row.trace, head);
    if (row.live_bytes > row.bytes || row.live_objects > row.objects) {
      log_.report(Rule::kLiveOverAllocated, offset,
                  "%" PRIu32 " objects (%" PRIu32 " bytes) live of %" PRIu32 " (%" PRIu32 ") allocated",
                  row.live_objects, row.live_bytes, row.objects, row.bytes);
    }
    uint32_t key = sites.is_by_allocation() ? row.bytes : row.live_bytes;
    if (key > last) {
      log_.report(Rule::kTableOrder, offset,
                  "site of %" PRIu32 " %s bytes after one of %" PRIu64 ", expected descending order", key,
                  sites.is_by_allocation() ? "allocated" : "live", last);
    }
    last = key;
    live_sum += row.live_bytes;
    allocated_sum += row.bytes;
  }
  // Saturated totals are not checked.
  bool live_over = live_sum > sites.live_bytes && sites.live_bytes != UINT32_MAX;
  if (live_over || allocated_sum > sites.bytes) {
    log_.report(Rule::kTableTotal, head.offset,
                "sites of %" PRIu64 " live and %" PRIu64
                " allocated bytes, expected no more than the totals %" PRIu32 " and %" PRIu64,
                live_sum, allocated_sum, sites.live_bytes, sites.bytes);
  }
}

void BinaryChecker::cpu_samples(const RecordHead& head) {
  if (first_samples_ == 0) first_samples_ = head.offset;
  const SamplesHead samples = read_samples(in_);
  if (!in_.ok() || head.length != 8 + uint64_t{samples.rows} * 8) {
    log_.report(Rule::kRecordLength, head.offset,
                "CPU SAMPLES record of %" PRIu64 " bytes, expected %" PRIu64 " for %" PRIu32 " traces",
                head.length, 8 + uint64_t{samples.rows} * 8, samples.rows);
    return;
  }
  uint64_t sum = 0;
  uint32_t last = UINT32_MAX;
  SampleRow row;
  for (uint64_t offset = in_.offset(), i = 0; i < samples.rows && read_row(in_, &row);
       offset = in_.offset(), ++i) {
    need_trace(row.trace, head);
    if (row.count > last) {
      log_.report(Rule::kTableOrder, offset,
                  "trace %" PRIu32 " with %" PRIu32 " samples after one with %" PRIu32
                  ", expected descending order",
                  row.trace, row.count, last);
    }
    last = row.count;
    sum += row.count;
  }
  if (sum > samples.total) {
    log_.report(Rule::kTableTotal, head.offset,
                "rows of %" PRIu64 " samples, expected no more than the total %" PRIu32, sum, samples.total);
  }
}

void BinaryChecker::control_settings(const RecordHead& head) {
  if (!exact_length(head, 6)) return;
  uint32_t flags = in_.u4();
  if (flags > 3) {
    log_.report(Rule::kControlFlags, head.body(), "flags 0x%" PRIx32 ", expected 0x0 to 0x3", flags);
  }
  if (records_ > 0) {
    log_.report(Rule::kControlFirst, head.offset,
                "record number %" PRIu64 ", expected CONTROL SETTINGS to be the first", records_ + 1);
  }
}

}  // namespace hprof::tool
