// Programs of virtual threads whose draws come late, in front of the estimate of their time.
#include "plugins/cpu_samples/drawn_time.h"

#include <doctest/doctest.h>
#include <initializer_list>

#include <hprof/cpp/random_moments.hpp>

using hprof::RandomMoments;
using hprof::samples::DrawnTime;

namespace {

constexpr uint64_t kTurnNs = 13'000'000, kLateNs = 1'500'000'000;
constexpr int kTurns = 300, kOwners = 49, kOfOwner = 10;

// 49 threads in a set, each of which owns a scope of 10, for 300 turns and a late one. A draw meets each
// owner with a probability of 1 to `one_in`, and with it the scope. Returns what was counted by what passed.
double counted(uint64_t seed, uint64_t one_in, int late) {
  RandomMoments random;
  random.seed(seed);
  DrawnTime time;
  time.open(0);
  uint64_t now = 0;
  double counted = 0;
  for (int turn = 0; turn < kTurns; turn++) {
    now += random.pause(kTurnNs) + (turn == late ? kLateNs : 0);
    double owners = 0;
    for (int i = 0; i < kOwners; i++)
      if (random.next() % one_in == 0) owners += static_cast<double>(one_in);
    const double met = owners * (1 + kOfOwner);
    counted += time.begin(now) * met;
    time.end(kOwners, owners * kOfOwner, met);
  }
  return counted / (static_cast<double>(now) * kOwners * (1 + kOfOwner));
}

}  // namespace

TEST_CASE("a late draw that meets few threads, or many, does not decide the sum") {
  for (const int late : {60, 200, 280}) {
    double mean = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
      const double share = counted(seed, 128, late);
      CAPTURE(seed);
      CAPTURE(late);
      CHECK(share > 0.5);
      CHECK(share < 2);
      mean += share / 50;
    }
    CHECK(mean > 0.9);
    CHECK(mean < 1.1);
  }
}

TEST_CASE("the time of a late draw is counted by those after it") {
  DrawnTime time;
  time.open(0);
  uint64_t now = 0;
  double counted = 0;
  const auto draw = [&](uint64_t after) {
    const double for_ns = time.begin(now += after);
    time.end(8, 0, 8);
    counted += for_ns;
    return for_ns;
  };
  for (int i = 0; i < 100; i++) CHECK(draw(kTurnNs) == doctest::Approx(kTurnNs));
  CHECK(draw(kLateNs) < kLateNs / 2);
  for (int i = 0; i < 20; i++) draw(kTurnNs);
  CHECK(counted == doctest::Approx(static_cast<double>(now)));
  CHECK(draw(kTurnNs) == doctest::Approx(kTurnNs));
}

TEST_CASE("threads that came in a long pause may have come at once, or at its end") {
  constexpr uint64_t kPauseNs = 10'000'000'000;
  DrawnTime time;
  time.open(0);
  uint64_t now = 0;
  double counted = 0, least = 0;
  const auto draw = [&](uint64_t after, uint64_t threads, uint64_t before) {
    counted += time.begin(now += after) * static_cast<double>(threads);
    time.end(threads, 0, static_cast<double>(threads));
    least += static_cast<double>(after * before);
  };
  CHECK(time.error(now) == 0);
  for (int i = 0; i < 1000; i++) draw(kTurnNs, 100, 100);
  CHECK(time.error(now) == 0);
  // What passes until the next draw is missing.
  CHECK(static_cast<double>(time.error(now + 1000 * kTurnNs)) == doctest::Approx(10'000));
  draw(kPauseNs, 200, 100);
  CHECK(time.error(now) > 5000);
  for (int i = 0; i < 2000; i++) draw(kTurnNs, 200, 200);
  const double half = static_cast<double>(kPauseNs) * 100 / 2;
  CHECK(counted == doctest::Approx(least + half));
  CHECK(static_cast<double>(time.error(now)) == doctest::Approx(1e4 * half / counted).epsilon(0.01));
  time.forget(now);
  CHECK(time.error(now) == 0);
}

TEST_CASE("what nobody met is counted when somebody is") {
  DrawnTime time;
  time.open(1000);
  time.begin(2000);
  time.end(4, 0, 4);
  time.begin(3000);
  time.end(4, 0, 2);
  CHECK(time.begin(4000) == doctest::Approx(1500));
  CHECK(time.found() == 4);
  time.forget(5000);
  CHECK(time.begin(6000) == doctest::Approx(1000));
}
