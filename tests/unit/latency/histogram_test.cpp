// Classes of durations and what is estimated by them; numbers of methods.
#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <hprof/cpp/histogram.hpp>

using namespace hprof::durations;

namespace {

void call(Histogram& histogram, uint64_t ns) {
  histogram.begin();
  histogram.end(ns);
}

struct Filled {
  explicit Filled(const std::vector<uint64_t>& durations) {
    for (uint64_t ns : durations) call(*histogram, ns);
    counts->read(*histogram);
  }
  std::unique_ptr<Histogram> histogram = std::make_unique<Histogram>();
  std::unique_ptr<Counts> counts = std::make_unique<Counts>();
};

uint64_t truth(std::vector<uint64_t> durations, double share) {
  std::sort(durations.begin(), durations.end());
  const double rank = share * static_cast<double>(durations.size());
  auto index = static_cast<size_t>(rank);
  if (static_cast<double>(index) < rank || index == 0) index++;
  return durations[index - 1];
}

}  // namespace

TEST_CASE("classes meet without gaps, and none is wider than an eighth of what it begins with") {
  CHECK(class_begin(0) == 0);
  for (uint32_t i = 0; i + 1 < kClasses; i++) {
    CAPTURE(i);
    const uint64_t begin = class_begin(i), end = class_end(i);
    REQUIRE(begin < end);
    REQUIRE(end == class_begin(i + 1));
    CHECK(class_of(begin) == i);
    CHECK(class_of(end - 1) == i);
    CHECK(class_of(end) == i + 1);
    if (i >= 8) CHECK((end - begin) * 8 <= begin);
  }
  CHECK(class_end(kClasses - 1) == INT64_MAX);
  CHECK(class_of(UINT64_MAX) == kClasses - 1);
}

TEST_CASE("a method takes at most 3 KB") { CHECK(sizeof(Histogram) <= 3 * 1024); }

TEST_CASE("calls, sum and the longest are exact") {
  Filled f({5, 100, 100, 7'000'000, uint64_t{1} << 60});
  CHECK(f.counts->calls == 5);
  CHECK(f.counts->running == 0);
  CHECK(f.counts->sum_ns == 7'000'205 + (uint64_t{1} << 60));
  CHECK(f.counts->longest_ns == uint64_t{1} << 60);
  CHECK(f.counts->of[class_of(100)] == 2);
  CHECK(f.counts->of[kClasses - 1] == 1);
}

TEST_CASE("percentiles are within 7 % of the truth, whatever the distribution") {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> wide(12, 3);
  std::uniform_real_distribution<double> even(1000, 50'000);
  std::exponential_distribution<double> short_mostly(1e-6);
  for (int kind = 0; kind < 4; kind++) {
    std::vector<uint64_t> durations;
    for (int i = 0; i < 20'000; i++) {
      const double ns = kind == 0   ? wide(random)
                        : kind == 1 ? even(random)
                        : kind == 2 ? short_mostly(random)
                                    : 20e6;
      durations.push_back(static_cast<uint64_t>(ns) + 16);
    }
    Filled f(durations);
    for (double share : {0.5, 0.9, 0.99, 0.999, 1.0}) {
      CAPTURE(kind);
      CAPTURE(share);
      const auto exact = static_cast<double>(truth(durations, share));
      const auto found = static_cast<double>(f.counts->quantile(share));
      CHECK(found >= exact * 0.93);
      CHECK(found <= exact * 1.07);
    }
  }
}

TEST_CASE("a percentile is never more than the longest, and 0 without calls") {
  Filled one({1000});
  for (double share : {0.0, 0.5, 1.0}) CHECK(one.counts->quantile(share) <= 1000);
  CHECK(Filled({}).counts->quantile(0.5) == 0);
  Filled two({10, 1000});
  CHECK(two.counts->quantile(0.5) == 10);
  CHECK(two.counts->quantile(0.51) > 900);
}

TEST_CASE("calls that have not ended are running, also after a reset") {
  Histogram histogram;
  Counts counts;
  for (int i = 0; i < 3; i++) histogram.begin();
  histogram.end(50);
  counts.read(histogram);
  CHECK(counts.calls == 1);
  CHECK(counts.running == 2);
  histogram.reset();
  counts.read(histogram);
  CHECK(counts.calls == 0);
  CHECK(counts.running == 2);
  CHECK(counts.longest_ns == 0);
  histogram.end(70);
  histogram.end(80);
  counts.read(histogram);
  CHECK(counts.calls == 2);
  CHECK(counts.running == 0);
  CHECK(counts.sum_ns == 150);
}

TEST_CASE("a constructor in super() neither runs nor has a duration, until super() has returned") {
  Histogram histogram;
  Counts counts;
  for (int i = 0; i < 3; i++) histogram.begin_in_super();
  histogram.constructed();
  counts.read(histogram);
  CHECK(counts.calls == 0);
  CHECK(counts.running == 1);
  CHECK(counts.failed == 2);
  histogram.end(50);
  counts.read(histogram);
  CHECK(counts.calls == 1);
  CHECK(counts.running == 0);
  CHECK(counts.failed == 2);
}

TEST_CASE("a reset drops calls in super() as those that failed there; one that goes on runs") {
  Histogram histogram;
  Counts counts;
  for (int i = 0; i < 2; i++) histogram.begin_in_super();
  histogram.reset();
  counts.read(histogram);
  CHECK(counts.failed == 0);
  CHECK(counts.running == 0);
  histogram.constructed();
  counts.read(histogram);
  CHECK(counts.running == 1);
  histogram.end(50);
  counts.read(histogram);
  CHECK(counts.calls == 1);
  CHECK(counts.running == 0);
}

TEST_CASE("what is new since a window is the difference") {
  Histogram histogram;
  Counts before, now;
  for (int i = 0; i < 100; i++) call(histogram, 1'000);
  before.read(histogram);
  for (int i = 0; i < 10; i++) call(histogram, 1'000'000);
  now.read(histogram);
  CHECK(now.quantile(0.5) < 1'100);
  now.subtract(before);
  CHECK(now.calls == 10);
  CHECK(now.sum_ns == 10'000'000);
  CHECK(now.quantile(0.5) > 930'000);
}

TEST_CASE("no call is lost between threads") {
  Histogram histogram;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; t++) {
    threads.emplace_back([&histogram, t] {
      for (uint64_t i = 0; i < 20'000; i++) call(histogram, i * (t + 1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  Counts counts;
  counts.read(histogram);
  CHECK(counts.calls == 80'000);
  CHECK(counts.running == 0);
  CHECK(counts.longest_ns == 19'999 * 4);
  CHECK(counts.sum_ns == uint64_t{20'000} * 19'999 / 2 * 10);
}
