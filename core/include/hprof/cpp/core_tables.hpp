// SPDX-License-Identifier: Apache-2.0
// Schemas of the tables of hprof/tables.h.
#pragma once

#include <hprof/cpp/table.hpp>
#include <hprof/tables.h>

namespace hprof {

namespace tables {

constexpr uint32_t kWeight = HPROF_COLUMN_WEIGHT, kState = HPROF_COLUMN_WEIGHT | HPROF_COLUMN_STATE;
constexpr uint32_t kFirst = HPROF_COLUMN_WEIGHT | HPROF_COLUMN_DEFAULT;

constexpr hprof_column kTrace = {"trace", nullptr, HPROF_COLUMN_TRACE, 0, nullptr, nullptr};
// Of events.
constexpr hprof_column kAt = {"at", nullptr, HPROF_COLUMN_TIME, 0, nullptr, "when it was over"};
constexpr hprof_column kThread = {"thread", nullptr, HPROF_COLUMN_THREAD, 0, nullptr, nullptr};

constexpr hprof_column kCpuSamplesColumns[] = {
    {"samples", "count", HPROF_COLUMN_COUNT, kFirst, "samples", "times that exactly this stack was found"},
    {"time", nullptr, HPROF_COLUMN_NANOSECONDS, kWeight, nullptr, "samples times the interval between them"},
    kTrace,
};
constexpr hprof_column kCpuTimesColumns[] = {
    {"calls", "count", HPROF_COLUMN_COUNT, kWeight, "calls", "calls with exactly this stack"},
    {"time", nullptr, HPROF_COLUMN_NANOSECONDS, kFirst, nullptr, "spent in the method itself"},
    kTrace,
};
constexpr hprof_column kCpuOldColumns[] = {
    {"calls", "count", HPROF_COLUMN_COUNT, 0, "calls", "calls of one method by the other"},
    {"time", nullptr, HPROF_COLUMN_NANOSECONDS, 0, nullptr, "spent in the called method itself"},
    {"callee", nullptr, HPROF_COLUMN_METHOD, 0, nullptr, nullptr},
    {"caller", nullptr, HPROF_COLUMN_METHOD, 0, nullptr, nullptr},
};
constexpr hprof_column kAllocSitesColumns[] = {
    {"class", nullptr, HPROF_COLUMN_CLASS, HPROF_COLUMN_LEAF, nullptr, "class of the objects"},
    kTrace,
    {"live_bytes", "live bytes", HPROF_COLUMN_BYTES, kState, nullptr, "of objects that live"},
    {"live_objects", "live objects", HPROF_COLUMN_COUNT, kState, "objects", "objects that live"},
    {"allocated_bytes", "allocated bytes", HPROF_COLUMN_BYTES, kFirst, nullptr, "of all objects made"},
    {"allocated_objects", "allocated objects", HPROF_COLUMN_COUNT, kWeight, "objects", "all objects made"},
};
constexpr hprof_column kHeapSummaryColumns[] = {
    {"live_bytes", "live bytes", HPROF_COLUMN_BYTES, HPROF_COLUMN_STATE, nullptr, "of objects that live"},
    {"live_objects", "live objects", HPROF_COLUMN_COUNT, HPROF_COLUMN_STATE, "objects", "objects that live"},
    {"allocated_bytes", "allocated bytes", HPROF_COLUMN_BYTES, 0, nullptr, "of all objects made"},
    {"allocated_objects", "allocated objects", HPROF_COLUMN_COUNT, 0, "objects", "all objects made"},
};
constexpr hprof_column kMonitorTimeColumns[] = {
    {"contentions", "count", HPROF_COLUMN_COUNT, kWeight, "contentions", "times that the lock was taken"},
    {"time", nullptr, HPROF_COLUMN_NANOSECONDS, kFirst, nullptr, "that threads were blocked"},
    kTrace,
    {"monitor", nullptr, HPROF_COLUMN_CLASS, HPROF_COLUMN_LEAF, nullptr, "class of the lock"},
    {"label", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, "what kind of lock it is, if no monitor of Java"},
};

constexpr hprof_column kLabels = {"labels", nullptr, HPROF_COLUMN_TEXT,
                                  0, nullptr, "of what the thread works for"};

// The columns of a table and, behind them, one of label sets (labels.hpp), with these flags. Where the table has traces
// it is no part of a row's key, since they have the labels.
template <size_t n>
struct LabelledColumns {
  hprof_column at[n + 1];
};
template <size_t n>
constexpr LabelledColumns<n> with_labels(const hprof_column (&columns)[n], uint32_t flags = 0) {
  LabelledColumns<n> made = {};
  for (size_t i = 0; i < n; i++) {
    made.at[i] = columns[i];
    if (columns[i].type >= HPROF_COLUMN_TRACE && columns[i].type <= HPROF_COLUMN_TEXT)
      made.at[i].flags |= HPROF_COLUMN_KEY;
  }
  made.at[n] = kLabels;
  made.at[n].flags = flags;
  return made;
}
// A row of such a table.
template <class Row>
struct Labelled : Row {
  uint64_t labels;  // hprof_string_id
};

// `Row` is the struct of one row.
template <class Row, size_t n>
constexpr hprof_table_schema schema(const char* name, const char* title, const hprof_column (&columns)[n]) {
  static_assert(sizeof(Row) == n * sizeof(hprof_cell), "a member for each column");
  return {sizeof(hprof_table_schema), n, sizeof(hprof_column), 0, name, title, columns};
}

}  // namespace tables

constexpr hprof_table_schema kCpuSamples =
    tables::schema<hprof_cpu_row>(HPROF_TABLE_CPU_SAMPLES, "CPU SAMPLES", tables::kCpuSamplesColumns);
constexpr hprof_table_schema kCpuTimes =
    tables::schema<hprof_cpu_row>(HPROF_TABLE_CPU_TIMES, "CPU TIME", tables::kCpuTimesColumns);
constexpr hprof_table_schema kCpuOld =
    tables::schema<hprof_call_row>(HPROF_TABLE_CPU_OLD, "CALLS", tables::kCpuOldColumns);
constexpr hprof_table_schema kAllocSites =
    tables::schema<hprof_site_row>(HPROF_TABLE_ALLOC_SITES, "SITES", tables::kAllocSitesColumns);
constexpr hprof_table_schema kHeapSummary = tables::schema<hprof_heap_summary_row>(
    HPROF_TABLE_HEAP_SUMMARY, "HEAP SUMMARY", tables::kHeapSummaryColumns);
constexpr hprof_table_schema kMonitorTime =
    tables::schema<hprof_monitor_row>(HPROF_TABLE_MONITOR_TIME, "MONITOR TIME", tables::kMonitorTimeColumns);

}  // namespace hprof
