#include "plugins/cpu_times/counter_clock.h"

#include <doctest/doctest.h>

using namespace hprof::times;

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
  CHECK(ns_of_ticks(1000, 0.5) == 500);
  CHECK(ns_of_ticks(3, 0.5) == 2);
  CHECK(ns_of_ticks(0, 0.5) == 0);
  CHECK(ns_of_ticks(uint64_t{0} - 20, 0.5) == 0);
  CHECK(ns_of_ticks(uint64_t{1} << 60, 0.25) == uint64_t{1} << 58);
}
