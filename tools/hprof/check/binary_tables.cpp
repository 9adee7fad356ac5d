// The tables of a binary file: sites, samples, settings.
#include <cinttypes>
#include <cmath>
#include <cstring>

#include "tools/hprof/check/binary_checker.h"

namespace hprof::tool {

namespace {

float as_float(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

void BinaryChecker::alloc_sites(const RecordHead& head) {
  uint16_t flags = in_.u2();
  float cutoff = as_float(in_.u4());
  in_.skip(4 + 4 + 8 + 8);
  uint32_t rows = in_.u4();
  if (!in_.ok() || head.length != 34 + uint64_t{rows} * 25) {
    log_.report(Rule::kRecordLength, head.offset,
                "ALLOC SITES record of %" PRIu64 " bytes, expected %" PRIu64 " for %" PRIu32 " sites",
                head.length, 34 + uint64_t{rows} * 25, rows);
    return;
  }
  if (flags > 7)
    log_.report(Rule::kSitesFlags, head.body(), "flags 0x%04x, expected 0x0000 to 0x0007", flags);
  if (!(cutoff >= 0)) {
    log_.report(Rule::kCutoff, head.body() + 2, "cutoff %g, expected a 4-byte float of 0 or more",
                static_cast<double>(cutoff));
  }
  site_rows(head, rows, (flags & 2) != 0);
}

void BinaryChecker::site_rows(const RecordHead& head, uint32_t rows, bool by_allocation) {
  in_.seek(head.body() + 6);
  uint64_t total_live = in_.u4();
  in_.u4();
  uint64_t total_allocated = in_.u8();
  in_.skip(8 + 4);
  uint64_t live_sum = 0, allocated_sum = 0, last = UINT64_MAX;
  for (uint32_t i = 0; i < rows && in_.ok(); ++i) {
    uint64_t offset = in_.offset();
    uint8_t array = in_.u1();
    uint32_t serial = in_.u4(), trace = in_.u4();
    uint32_t live_bytes = in_.u4(), live = in_.u4(), bytes = in_.u4(), count = in_.u4();
    if (!in_.ok()) break;
    if (array != 0 && width_of(array, 4) == 0) {
      log_.report(Rule::kSitesArray, offset, "array indicator %u, expected 0, 2 or 4 to 11", array);
    }
    if (definitions_.classes.count(serial) == 0) {
      log_.report(Rule::kSitesClass, offset,
                  "class serial number %" PRIu32 ", expected its LOAD CLASS before", serial);
    }
    need_trace(trace, head);
    if (live_bytes > bytes || live > count) {
      log_.report(Rule::kLiveOverAllocated, offset,
                  "%" PRIu32 " objects (%" PRIu32 " bytes) live of %" PRIu32 " (%" PRIu32 ") allocated", live,
                  live_bytes, count, bytes);
    }
    uint32_t key = by_allocation ? bytes : live_bytes;
    if (key > last) {
      log_.report(Rule::kTableOrder, offset,
                  "site of %" PRIu32 " %s bytes after one of %" PRIu64 ", expected descending order", key,
                  by_allocation ? "allocated" : "live", last);
    }
    last = key;
    live_sum += live_bytes;
    allocated_sum += bytes;
  }
  // A saturated total cannot be checked.
  bool live_over = live_sum > total_live && total_live != UINT32_MAX;
  if (live_over || allocated_sum > total_allocated) {
    log_.report(Rule::kTableTotal, head.offset,
                "sites of %" PRIu64 " live and %" PRIu64
                " allocated bytes, expected no more than the totals %" PRIu64 " and %" PRIu64,
                live_sum, allocated_sum, total_live, total_allocated);
  }
}

void BinaryChecker::cpu_samples(const RecordHead& head) {
  if (first_samples_ == 0) first_samples_ = head.offset;
  uint32_t total = in_.u4(), rows = in_.u4();
  if (!in_.ok() || head.length != 8 + uint64_t{rows} * 8) {
    log_.report(Rule::kRecordLength, head.offset,
                "CPU SAMPLES record of %" PRIu64 " bytes, expected %" PRIu64 " for %" PRIu32 " traces",
                head.length, 8 + uint64_t{rows} * 8, rows);
    return;
  }
  uint64_t sum = 0;
  uint32_t last = UINT32_MAX;
  for (uint32_t i = 0; i < rows && in_.ok(); ++i) {
    uint64_t offset = in_.offset();
    uint32_t count = in_.u4(), trace = in_.u4();
    if (!in_.ok()) break;
    need_trace(trace, head);
    if (count > last) {
      log_.report(Rule::kTableOrder, offset,
                  "trace %" PRIu32 " with %" PRIu32 " samples after one with %" PRIu32
                  ", expected descending order",
                  trace, count, last);
    }
    last = count;
    sum += count;
  }
  if (sum > total) {
    log_.report(Rule::kTableTotal, head.offset,
                "rows of %" PRIu64 " samples, expected no more than the total %" PRIu32, sum, total);
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
