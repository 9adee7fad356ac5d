#include "plugins/cpu_times/tally.h"

#include <doctest/doctest.h>
#include <vector>

#include <hprof/cpp/counter_rate.hpp>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::times;

namespace {

struct Fixture {
  MockHost mock;
  Services services{mock.host()};
  Tally tally;

  explicit Fixture(uint32_t depth = 4) { tally.open(services, depth); }
  ~Fixture() {
    tally.clear();
    CHECK(mock.memory_used == 0);
  }
  bool add(uint32_t thread, const std::vector<uint32_t>& trace, uint64_t count, uint64_t time) {
    return tally.add(thread, trace.data(), static_cast<uint32_t>(trace.size()), count, time);
  }
  const TallyRow* find(uint32_t thread, const std::vector<uint32_t>& trace) {
    for (uint64_t i = 0; i < tally.size(); i++) {
      TallyRow* row = tally.row(i);
      std::vector<uint32_t> of(row->trace(), row->trace() + row->length);
      if (row->thread == thread && of == trace) return row;
    }
    return nullptr;
  }
};

}  // namespace

TEST_CASE("what is added for one trace adds up") {
  Fixture f;
  REQUIRE(f.add(0, {1, 2}, 3, 100));
  REQUIRE(f.add(0, {1, 2}, 4, 50));
  CHECK(f.tally.size() == 1);
  REQUIRE(f.find(0, {1, 2}) != nullptr);
  CHECK(f.find(0, {1, 2})->count == 7);
  CHECK(f.find(0, {1, 2})->time_ns == 150);
}

TEST_CASE("threads, lengths and orders are told apart") {
  Fixture f;
  f.add(0, {1, 2}, 1, 0);
  f.add(1, {1, 2}, 2, 0);
  f.add(0, {2, 1}, 3, 0);
  f.add(0, {1, 2, 2}, 4, 0);
  f.add(0, {1}, 5, 0);
  CHECK(f.tally.size() == 5);
  CHECK(f.find(1, {1, 2})->count == 2);
  CHECK(f.find(0, {2, 1})->count == 3);
  CHECK(f.find(0, {1})->count == 5);
}

TEST_CASE("nothing is lost when it grows") {
  Fixture f;
  for (uint32_t round = 0; round < 2; round++) {
    for (uint32_t i = 0; i < 5000; i++) REQUIRE(f.add(i % 3, {i, i / 2, 7}, i, 1));
  }
  CHECK(f.tally.size() == 5000);
  CHECK(f.find(4999 % 3, {4999, 2499, 7})->count == 2 * 4999);
  CHECK(f.find(0, {0, 0, 7})->time_ns == 2);
}

TEST_CASE("one tally is added to another") {
  Fixture f, other;
  f.add(0, {1}, 1, 10);
  other.add(0, {1}, 2, 20);
  other.add(0, {2}, 5, 50);
  REQUIRE(f.tally.add_all(other.tally));
  CHECK(f.tally.size() == 2);
  CHECK(f.find(0, {1})->count == 3);
  CHECK(f.find(0, {2})->time_ns == 50);
}

TEST_CASE("without memory nothing is added, and what is there stays") {
  Fixture f;
  for (uint32_t i = 0; i < 256; i++) REQUIRE(f.add(0, {i}, 1, 1));
  f.mock.memory_limit = f.mock.memory_used;
  CHECK_FALSE(f.add(0, {1000}, 1, 1));
  CHECK(f.tally.size() == 256);
  CHECK(f.add(0, {17}, 1, 1));
  CHECK(f.find(0, {17})->count == 2);
}

TEST_CASE("with room made for them, rows need no memory, and no more than is said") {
  for (const uint32_t rows : {1u, 255u, 256u, 385u, 1000u, 12289u, 100000u}) {
    CAPTURE(rows);
    Fixture f(16);
    REQUIRE(f.tally.make_room(rows));
    CHECK(f.mock.memory_used <= uint64_t{rows < 1000 ? 1000 : rows} * Tally::bytes_of_row(16));
    f.mock.memory_limit = f.mock.memory_used;
    bool all = true;
    for (uint32_t i = 0; i < rows; i++) all = all && f.add(0, {i, i / 2}, 1, 1);
    CHECK(all);
    f.mock.memory_limit = UINT64_MAX;
    CHECK(f.tally.size() == rows);
    CHECK(f.find(0, {rows - 1, (rows - 1) / 2}) != nullptr);
  }
}

TEST_CASE("room is made for more rows, again and again; without memory nothing is lost") {
  Fixture f;
  for (uint32_t i = 0; i < 3000; i++) {
    REQUIRE(f.tally.make_room(i + 1));
    REQUIRE(f.add(0, {i}, i, 1));
  }
  f.mock.memory_limit = f.mock.memory_used;
  CHECK_FALSE(f.tally.make_room(1000000));
  f.mock.memory_limit = UINT64_MAX;
  CHECK(f.tally.size() == 3000);
  CHECK(f.find(0, {2999})->count == 2999);
}

TEST_CASE("a steady counter has the rate between the first and the last pair") {
  const ClockPair pairs[] = {{1000, 500}, {501000, 1000500}, {1001000, 2000700}, {1501000, 3000500}};
  CHECK(steady_rate(pairs, 4) == doctest::Approx(0.5));
}

TEST_CASE("a counter of one nanosecond is fit, too") {
  const ClockPair pairs[] = {{1000, 7}, {2000, 1007}};
  CHECK(steady_rate(pairs, 2) == doctest::Approx(1.0));
}

TEST_CASE("a counter that does not advance, goes back or changes its rate is not fit") {
  const ClockPair stands[] = {{1000, 500}, {2000, 500}, {3000, 500}};
  CHECK(steady_rate(stands, 3) == 0);
  const ClockPair back[] = {{1000, 500}, {2000, 1500}, {3000, 1400}, {4000, 3500}};
  CHECK(steady_rate(back, 4) == 0);
  const ClockPair changes[] = {{1000, 0}, {2000, 1000}, {3000, 2500}, {4000, 3000}};
  CHECK(steady_rate(changes, 4) == 0);
  const ClockPair sleeps[] = {{1000, 0}, {2000, 1000}, {3000, 1000}, {4000, 3000}};
  CHECK(steady_rate(sleeps, 4) == 0);
}

TEST_CASE("ticks that no processor has are not believed") {
  const ClockPair slow[] = {{0, 0}, {1000000, 10}, {2000000, 20}};
  CHECK(steady_rate(slow, 3) == 0);
  const ClockPair fast[] = {{0, 0}, {1000, 1000000}, {2000, 2000000}};
  CHECK(steady_rate(fast, 3) == 0);
  CHECK(steady_rate(fast, 1) == 0);
}

TEST_CASE("ticks become nanoseconds, and a sum below 0 none") {
  const auto ns_of_ticks = [](uint64_t ticks, double ns_per_tick) {
    Fixture of;
    const uint32_t trace[] = {1};
    REQUIRE(of.tally.add(0, trace, 1, 1, ticks));
    of.tally.turn_ticks(ns_per_tick);
    return of.tally.row(0)->time_ns;
  };
  CHECK(ns_of_ticks(1000, 0.5) == 500);
  CHECK(ns_of_ticks(3, 0.5) == 2);
  CHECK(ns_of_ticks(0, 0.5) == 0);
  CHECK(ns_of_ticks(uint64_t{0} - 20, 0.5) == 0);
  CHECK(ns_of_ticks(uint64_t{1} << 60, 0.25) == uint64_t{1} << 58);
}
