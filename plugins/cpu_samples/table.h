// The columns of reports, and their rows: ranked and cut off. No VM.
#pragma once

#include <cstdint>

#include <hprof/cpp/core_tables.hpp>

namespace hprof::samples {

// With clock=wall the column of time has another name, by which readers tell it from CPU time.
constexpr hprof_column kElapsed = {
    "wall",          "elapsed time", HPROF_COLUMN_NANOSECONDS,
    tables::kWeight, nullptr,        tables::kCpuSamplesColumns[HPROF_CPU_TIME].help};

// A row of hprof_cpu_row, and of one column more where threads have contexts.
struct SampleRow {
  uint64_t count, time_ns, trace;
  uint64_t labels;  // hprof_string_id
};

// By samples, most first, equal ones by trace number and labels.
struct SampleIsBefore {
  bool operator()(const SampleRow& a, const SampleRow& b) const {
    if (a.count != b.count) return a.count > b.count;
    return a.trace != b.trace ? a.trace < b.trace : a.labels < b.labels;
  }
};

// Sorts the rows. Returns how many the table has: it ends before the first row whose share of `total` is
// below `cutoff`.
uint64_t rank_rows(SampleRow* rows, uint64_t count, uint64_t total, double cutoff);

}  // namespace hprof::samples
