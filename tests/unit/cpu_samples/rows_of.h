#pragma once

#include <vector>

#include "plugins/cpu_samples/trace_counts.h"

namespace hprof::samples {

// The rows, in no order.
inline std::vector<SampleRow> rows_of(const TraceCounts& counts) {
  std::vector<SampleRow> rows;
  counts.each([&](const SampleRow& row) { rows.push_back(row); });
  return rows;
}

}  // namespace hprof::samples
