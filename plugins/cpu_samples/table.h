// The table of a report: rows in order, cut off. No VM.
#pragma once

#include <cstdint>

#include <hprof/tables.h>

namespace hprof::samples {

// Sorts by samples, most first, equals by trace number, and returns how many rows the table has: it stops at
// the first row whose share of `total` is below `cutoff`.
uint64_t rank_rows(hprof_cpu_row* rows, uint64_t count, uint64_t total, double cutoff);

}  // namespace hprof::samples
