// Ranks and cuts off the rows of a report. No VM.
#pragma once

#include <cstdint>

#include <hprof/tables.h>

namespace hprof::samples {

// Sorts by samples, most first, equal ones by trace number. Returns how many rows the table has: it ends
// before the first row whose share of `total` is below `cutoff`.
uint64_t rank_rows(hprof_cpu_row* rows, uint64_t count, uint64_t total, double cutoff);

}  // namespace hprof::samples
