// The table of a report: rows in order, cut off. No VM.
#pragma once

#include <cstdint>

#include <hprof/record.h>

namespace hprof::samples {

// Sorts by samples, most first, equals by trace number, and returns how many rows the table has: it stops at
// the first row whose share of `total` is below `cutoff`, but has its first row always, because readers hang
// on an empty table.
uint64_t rank_rows(hprof_cpu_row* rows, uint64_t count, uint64_t total, double cutoff);

}  // namespace hprof::samples
