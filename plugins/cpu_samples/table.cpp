#include "table.h"

#include <algorithm>

#include <hprof/cpp/cutoff.hpp>

namespace hprof::samples {

uint64_t rank_rows(SampleRow* rows, uint64_t count, uint64_t total, double cutoff) {
  // A heap sort is half the code of std::sort, and runs once per report.
  std::make_heap(rows, rows + count, SampleIsBefore());
  std::sort_heap(rows, rows + count, SampleIsBefore());
  uint64_t kept = 0;
  const double least = least_shown(cutoff, total);
  while (kept < count && static_cast<double>(rows[kept].count) >= least) kept++;
  return kept;
}

}  // namespace hprof::samples
