#include "core/agent/session/exit_deadline.h"

#include <doctest/doctest.h>

using namespace hprof;

namespace {
constexpr int64_t kSecond = platform::kNanosPerSecond;
constexpr int64_t kBegun = 1000 * kSecond;
}  // namespace

TEST_CASE("what is no heap dump has the timeout, whatever it does") {
  ExitDeadline deadline(kBegun, 30 * kSecond, 300 * kSecond);
  CHECK(deadline.goes_on(kBegun, false, 1));
  CHECK(deadline.goes_on(kBegun + 30 * kSecond - 1, false, 2));
  CHECK_FALSE(deadline.goes_on(kBegun + 30 * kSecond, false, 3));
}

TEST_CASE("a heap dump that gets on is waited for up to its total") {
  ExitDeadline deadline(kBegun, 30 * kSecond, 300 * kSecond);
  for (int64_t at = 0; at < 300; at += 9) {
    CAPTURE(at);
    CHECK(deadline.goes_on(kBegun + at * kSecond, true, static_cast<uint64_t>(at) + 1));
  }
  CHECK_FALSE(deadline.goes_on(kBegun + 300 * kSecond, true, 1000));
}

TEST_CASE("a heap dump that stands still is given up once the timeout is over") {
  ExitDeadline deadline(kBegun, 30 * kSecond, 300 * kSecond);
  CHECK(deadline.goes_on(kBegun + 25 * kSecond, true, 7));
  CHECK(deadline.goes_on(kBegun + 34 * kSecond, true, 7));
  CHECK_FALSE(deadline.goes_on(kBegun + 35 * kSecond, true, 7));
}

TEST_CASE("a timeout shorter than the silence is the silence; a total below the timeout does not cut it") {
  ExitDeadline quick(kBegun, 2 * kSecond, 300 * kSecond);
  CHECK(quick.goes_on(kBegun + 1 * kSecond, true, 1));
  CHECK(quick.goes_on(kBegun + 3 * kSecond - 1, true, 1));
  CHECK_FALSE(quick.goes_on(kBegun + 3 * kSecond, true, 1));
  ExitDeadline low(kBegun, 30 * kSecond, 1 * kSecond);
  CHECK(low.goes_on(kBegun + 29 * kSecond, true, 1));
}
