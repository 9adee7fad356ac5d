// The column of elapsed time, and the rows of a report: ranked and cut off. No VM.
#pragma once

#include <cstdint>

#include <hprof/cpp/core_tables.hpp>

namespace hprof::samples {

// With clock=wall the column of time has another name, by which readers tell it from CPU time.
constexpr hprof_column kWall = {
    "wall",          "elapsed time", HPROF_COLUMN_NANOSECONDS,
    tables::kWeight, nullptr,        tables::kCpuSamplesColumns[HPROF_CPU_TIME].help};

// Sorts by samples, most first, equal ones by trace number. Returns how many rows the table has: it ends
// before the first row whose share of `total` is below `cutoff`.
uint64_t rank_rows(hprof_cpu_row* rows, uint64_t count, uint64_t total, double cutoff);

}  // namespace hprof::samples
