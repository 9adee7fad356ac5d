// Calls that run, by age.
#include "plugins/latency/running_calls.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace hprof::latency;

namespace {

constexpr uint32_t kSlot = 10;
constexpr uint64_t kUnit = uint64_t{1} << kSlot;

// The calls of one method under a clock of its own, moved as often as the collector does.
struct Calls {
  explicit Calls(uint64_t now = 1000 * kUnit) : now(now), moved(now) { ages.open(kSlot, now); }

  uint64_t begin() {
    return running->begin(&ages, [&] { return now; });
  }
  void end(uint64_t at, uint64_t ns = 1) { running->end(ages, at, ns); }
  void pass(uint64_t units) {
    const uint64_t until = now + units;
    for (; now + 2 * kUnit < until; move()) now += 2 * kUnit;
    now = until;
    move();
  }
  void move() {
    ages.advance(now);
    running->move(ages, now);
  }
  uint64_t count(Oldest* oldest = nullptr) const { return running->count(ages, now, oldest); }

  Ages ages;
  uint64_t now, moved;
  std::unique_ptr<RunningCalls> running = std::make_unique<RunningCalls>();
};

void check_age(const Calls& calls, uint64_t age) {
  Oldest oldest = {};
  REQUIRE(calls.count(&oldest) != 0);
  CAPTURE(age);
  CHECK(oldest.least <= age);
  CHECK(oldest.most >= age);
  CHECK(oldest.most - oldest.least <= std::max(kUnit, age / 2 + kUnit));
}

}  // namespace

TEST_CASE("the age of a call is known to a half, however long it runs") {
  for (const uint64_t start : {1000 * kUnit, kUnit / 2, kClockMask - 500 * kUnit}) {
    Calls calls(start);
    calls.pass(37);
    const uint64_t at = calls.begin();
    const uint64_t from = calls.now;
    for (uint64_t step = 1; calls.now - from < 8 * 1024 * kUnit; step += step / 3 + 100) {
      CHECK(calls.count() == 1);
      check_age(calls, calls.now - from);
      calls.pass(step);
    }
    calls.end(at);
    CHECK(calls.count() == 0);
  }
}

TEST_CASE("a call that runs for ever is known to run for long") {
  Calls calls;
  const uint64_t at = calls.begin();
  calls.pass(40000 * kUnit);
  Oldest oldest = {};
  CHECK(calls.count(&oldest) == 1);
  CHECK(oldest.least > 7 * 1024 * kUnit);
  CHECK(oldest.most > 40000 * kUnit);
  calls.end(at);
  CHECK(calls.count() == 0);
}

TEST_CASE("the oldest of many, and how many there are, whatever ends when") {
  std::mt19937_64 random(7);
  Calls calls;
  std::multimap<uint64_t, uint64_t> ends;  // beginnings by end
  uint64_t sum = 0;
  for (int i = 0; i < 20000; i++) {
    const uint64_t length = kUnit << random() % 12;
    ends.insert({calls.now + random() % length, calls.begin()});
    calls.pass(random() % (kUnit / 2));
    while (!ends.empty() && ends.begin()->first <= calls.now) {
      const uint64_t at = ends.begin()->second;
      calls.end(at, calls.now - at);
      sum += calls.now - at;
      ends.erase(ends.begin());
    }
    REQUIRE(calls.count() == ends.size());
    if (ends.empty()) continue;
    uint64_t oldest = calls.now;
    for (const auto& [end, at] : ends) oldest = std::min(oldest, at);
    check_age(calls, calls.now - oldest);
  }
  CHECK(calls.running->sum_ns() == sum);
}

TEST_CASE("a call that ends while it is moved is missing nowhere afterwards") {
  Calls calls;
  const uint64_t first = calls.begin(), second = calls.begin();
  calls.now += Ages::kMovesAfter * kUnit;
  calls.ages.advance(calls.now);
  calls.end(first);  // looks where it will be
  CHECK(calls.count() == 1);
  calls.move();
  CHECK(calls.count() == 1);
  check_age(calls, Ages::kMovesAfter * kUnit);
  Ages before;  // as another thread has read it
  before.open(kSlot, 1000 * kUnit);
  calls.running->end(before, second, 1);
  CHECK(calls.count() == 0);
  calls.move();
  CHECK(calls.count() == 0);
  Oldest oldest = {};
  calls.begin();
  calls.count(&oldest);
  CHECK(oldest.most <= kUnit);
}

TEST_CASE("the sum is exact, however large, and is reset without the calls") {
  Calls calls;
  const uint64_t running = calls.begin();
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 200000; i++) {
    const uint64_t ns = i % 7 == 0 ? (uint64_t{1} << 24) + i : (uint64_t{1} << 24) - 1 - i;
    calls.end(calls.begin(), ns);
    sum += ns;
  }
  CHECK(sum > uint64_t{1} << 41);
  CHECK(calls.running->sum_ns() == sum);
  CHECK(calls.count() == 1);
  calls.running->reset_sum();
  CHECK(calls.running->sum_ns() == 0);
  CHECK(calls.count() == 1);
  calls.end(running, 5);
  CHECK(calls.running->sum_ns() == 5);
  calls.begin();
  calls.running->clear();
  CHECK(calls.count() == 0);
}

TEST_CASE("threads that begin and end calls while they grow older lose none") {
  Calls calls;
  std::atomic<uint64_t> now{calls.now};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; t++) {
    threads.emplace_back([&, t] {
      std::vector<uint64_t> open;
      for (uint64_t i = 0; i < 100000; i++) {
        open.push_back(calls.running->begin(&calls.ages, [&] { return now.load(); }));
        if (open.size() <= 50 * t) continue;
        calls.running->end(calls.ages, open.front(), i);
        open.erase(open.begin());
      }
      for (const uint64_t at : open) calls.running->end(calls.ages, at, 0);
    });
  }
  std::thread ager([&] {
    while (!is_over.load()) {
      calls.now += kUnit / 2;
      calls.move();
      now.store(calls.now);
    }
  });
  for (std::thread& thread : threads) thread.join();
  is_over.store(true);
  ager.join();
  CHECK(calls.count() == 0);
}
