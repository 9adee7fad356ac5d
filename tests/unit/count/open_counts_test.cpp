// Snapshots of counts, their differences, and the handles of those that are open.
#include "plugins/count/open_counts.h"

#include <doctest/doctest.h>
#include <vector>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::count;

namespace {

std::vector<hprof_thread_count> counted;  // what the unit of these tests has
bool is_whole = true;

const hprof_thread_counts kUnit = {
    sizeof(hprof_thread_counts),
    0,
    nullptr,
    [](void*, uint32_t, void* argument, void (*visit)(void* argument, const hprof_thread_count* count)) {
      for (const hprof_thread_count& row : counted) visit(argument, &row);
      return is_whole ? 1u : 0u;
    },
    nullptr,
    nullptr,
    nullptr};

Numbers taken(const Services& services, std::vector<hprof_thread_count> rows) {
  counted = std::move(rows);
  Numbers numbers;
  CHECK(numbers.take(services, kUnit, nullptr, false));
  return numbers;
}

}  // namespace

TEST_CASE("a difference has what is new and what is more") {
  MockHost mock;
  const Services services(mock.host());
  Numbers before = taken(services, {{7, 7, 0, 10, 100}, {9, 9, 0, 1, 8}});
  Numbers after = taken(services, {{5, 5, 1, 2, 16}, {7, 7, 0, 13, 130}, {9, 9, 0, 1, 8}, {8, 8, 0, 4, 32}});
  after.subtract(before);
  REQUIRE(after.size() == 3);
  CHECK(after[0].key == 5);
  CHECK(after[0].trace == 1);
  CHECK(after[0].count == 2);
  CHECK(after[1].key == 7);
  CHECK(after[1].count == 3);
  CHECK(after[1].bytes == 30);
  CHECK(after[2].key == 8);
  before.close(services);
  after.close(services);
}

TEST_CASE("many rows are kept, and those that may be missing refuse the snapshot") {
  MockHost mock;
  const Services services(mock.host());
  std::vector<hprof_thread_count> rows;
  for (uint32_t i = 1; i <= 1000; i++) rows.push_back({i, i, 0, i, 0});
  Numbers numbers = taken(services, rows);
  CHECK(numbers.size() == 1000);
  CHECK(numbers[999].count == 1000);
  numbers.close(services);
  is_whole = false;
  Numbers lost;
  CHECK_FALSE(lost.take(services, kUnit, nullptr, false));
  is_whole = true;
  lost.close(services);
}

TEST_CASE("a difference is whole if nothing was lost in between") {
  MockHost mock;
  const Services services(mock.host());
  const hprof_thread_count row = {7, 7, 0, 10, 100};
  const auto lost = [](uint64_t count) { return hprof_thread_count{0, 0, 0, count, 0}; };
  const auto is_whole_between = [&](const std::vector<hprof_thread_count>& first,
                                    const std::vector<hprof_thread_count>& last) {
    Numbers before = taken(services, first), after = taken(services, last);
    after.subtract(before);
    const bool whole = after.is_whole();
    before.close(services);
    after.close(services);
    return whole;
  };
  CHECK(is_whole_between({}, {}));
  CHECK(is_whole_between({row}, {row}));
  CHECK(is_whole_between({lost(3)}, {lost(3), row}));
  CHECK_FALSE(is_whole_between({row}, {lost(1), row}));
  CHECK_FALSE(is_whole_between({lost(3), row}, {lost(4), row}));
}

TEST_CASE("a handle is of one count, once") {
  MockHost mock;
  const Services services(mock.host());
  OpenCounts open;
  Snapshot found;
  bool all = false;
  const int64_t first = open.add(services, Snapshot(), true), second = open.add(services, Snapshot(), false);
  CHECK(first > 0);
  CHECK(second > 0);
  CHECK(first != second);
  for (const int64_t wrong : {int64_t{0}, int64_t{-1}, first + (int64_t{1} << 40), second + 1})
    CHECK_FALSE(open.remove(services, wrong, &found, &all));
  CHECK(open.remove(services, first, &found, &all));
  CHECK(all);
  CHECK_FALSE(open.remove(services, first, &found, &all));
  CHECK(open.remove(services, second, &found, &all));
  CHECK_FALSE(all);
  uint32_t count = 0;
  while (open.add(services, Snapshot(), false) != 0) count++;
  CHECK(count == OpenCounts::kMost);
  open.close(services);
  CHECK(open.add(services, Snapshot(), false) != 0);
  open.close(services);
}
