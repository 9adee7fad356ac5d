#include "plugins/cpu_samples/trace_counts.h"

#include <doctest/doctest.h>
#include <map>
#include <vector>

#include "plugins/cpu_samples/table.h"
#include "rows_of.h"
#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::samples;

static std::map<uint32_t, uint64_t> all(const TraceCounts& counts) {
  std::map<uint32_t, uint64_t> found;
  for (auto& row : rows_of(counts)) found[row.trace] += row.count;
  return found;
}

TEST_CASE("counts add up per trace, through growth") {
  MockHost mock;
  Services services(mock.host());
  TraceCounts counts;
  for (uint32_t round = 1; round <= 3; round++) {
    for (uint32_t trace = 1; trace <= 5000; trace++) counts.add(services, trace, trace);
  }
  CHECK(counts.size() == 5000);
  CHECK(counts.overflow() == 0);
  auto found = all(counts);
  CHECK(found.size() == 5000);
  for (uint32_t trace = 1; trace <= 5000; trace++) CHECK(found[trace] == 3ull * trace);
  counts.add(services, 1, UINT64_MAX - 1);
  CHECK(all(counts)[1] == UINT64_MAX);
  counts.clear();
  CHECK(counts.size() == 0);
  CHECK(all(counts).empty());
  counts.add(services, 7, 1);
  CHECK(all(counts) == std::map<uint32_t, uint64_t>{{7, 1}});
  counts.close();
  CHECK(mock.memory_used == 0);
}

TEST_CASE("what does not fit goes to the overflow, known traces keep counting") {
  MockHost mock;
  Services services(mock.host());
  TraceCounts counts;
  mock.memory_limit = 0;
  counts.add(services, 1, 3);
  CHECK(counts.overflow() == 3);
  mock.memory_limit = 20000;
  for (uint32_t trace = 1; trace <= 800; trace++) counts.add(services, trace, 1);
  CHECK(counts.size() < 800);
  CHECK(counts.size() + counts.overflow() == 3 + 800);
  counts.add(services, 7, 2);
  counts.add(services, 0, 2);  // the ids service was full
  CHECK(all(counts)[7] == 3);
  CHECK(counts.size() + counts.overflow() == 3 + 800 + 2);
  counts.close();
}

TEST_CASE("a trace has a row for each label set, and one without") {
  MockHost mock;
  Services services(mock.host());
  TraceCounts counts;
  counts.add(services, 7, 1);
  counts.add(services, 7, 2, 5);
  counts.add(services, 7, 3, 5);
  counts.add(services, 7, 4, UINT32_MAX);
  counts.add(services, 0, 5, 5);  // the ids service was full
  std::vector<SampleRow> rows = rows_of(counts);
  std::map<uint64_t, uint64_t> found;
  for (const SampleRow& row : rows) {
    CHECK(row.trace == 7);
    found[row.labels] = row.count;
  }
  CHECK(found == std::map<uint64_t, uint64_t>{{0, 1}, {5, 5}, {UINT32_MAX, 4}});
  CHECK(counts.overflow() == 5);
  counts.close();
}

static std::vector<uint32_t> ranked(std::vector<SampleRow> rows, uint64_t total, double cutoff) {
  std::vector<uint32_t> traces;
  uint64_t kept = rank_rows(rows.data(), rows.size(), total, cutoff);
  for (uint64_t i = 0; i < kept; i++) traces.push_back(rows[i].trace);
  return traces;
}

TEST_CASE("rows are ranked by count, equals by trace") {
  std::vector<SampleRow> rows = {{5, 0, 9}, {20, 0, 8}, {5, 0, 2}, {70, 0, 5}};
  CHECK(ranked(rows, 100, 0) == std::vector<uint32_t>{5, 8, 2, 9});
}

TEST_CASE("a table stops at the first row below the cutoff") {
  std::vector<SampleRow> rows = {{5, 0, 1}, {20, 0, 2}, {5, 0, 3}, {70, 0, 4}};
  CHECK(ranked(rows, 100, 0.05) == std::vector<uint32_t>{4, 2, 1, 3});
  CHECK(ranked(rows, 100, 0.06) == std::vector<uint32_t>{4, 2});
  CHECK(ranked(rows, 100, 0.5) == std::vector<uint32_t>{4});
}

TEST_CASE("a table may be empty") {
  CHECK(ranked({{5, 0, 1}}, 5, 1.0) == std::vector<uint32_t>{1});
  CHECK(ranked({{3, 0, 1}, {2, 0, 2}}, 5, 1.0).empty());
  CHECK(ranked({{5, 0, 1}}, 5, 1.5).empty());
  CHECK(ranked({{0, 0, 1}}, 0, 0.5) == std::vector<uint32_t>{1});
  CHECK(ranked({}, 0, 0.5).empty());
}
