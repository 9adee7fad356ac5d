// Loss counters: one per reason, bounded, printed when not zero.
#include "core/base/counters.h"

#include <doctest/doctest.h>
#include <map>
#include <memory>
#include <string>

#include "tests/unit/base/test_memory.h"

using namespace hprof;

namespace {

std::map<std::string, uint64_t> nonzero(const LossCounters& losses) {
  std::map<std::string, uint64_t> found;
  losses.each_nonzero([&](const char* words, uint64_t value) { found[words] = value; });
  return found;
}

}  // namespace

TEST_CASE("the core's losses have words and are shown when they happened") {
  LossCounters losses;
  losses.open();
  CHECK(nonzero(losses).empty());
  losses.add(Loss::kLostTraces, 3);
  losses.add(Loss::kLostTraces);
  CHECK(losses.value(Loss::kLostTraces) == 4);
  CHECK(nonzero(losses) ==
        std::map<std::string, uint64_t>{{"traces: the trace table was full (max-memory=)", 4}});
}

TEST_CASE("the same words give the same counter") {
  LossCounters losses;
  losses.open();
  uint64_t* samples = losses.counter("samples: the buffer was full");
  REQUIRE(samples);
  std::string copy = "samples: the buffer was full";
  CHECK(losses.counter(Str(copy.data(), copy.size())) == samples);
  CHECK(losses.counter("samples: the thread had ended") != samples);
  CHECK(losses.counter("traces: the trace table was full (max-memory=)") ==
        losses.counter(Loss::kLostTraces));
  copy.assign(copy.size(), '?');
  *samples = 2;
  CHECK(nonzero(losses) == std::map<std::string, uint64_t>{{"samples: the buffer was full", 2}});
}

TEST_CASE("there are 64 counters and no more") {
  LossCounters losses;
  losses.open();
  for (uint32_t i = static_cast<uint32_t>(Loss::kCount); i < LossCounters::kMost; ++i) {
    CHECK(losses.counter(std::to_string(i).c_str()) != nullptr);
  }
  CHECK(losses.counter("one too many") == nullptr);
  CHECK(losses.counter("63") != nullptr);
  CHECK(losses.counter("") == nullptr);
}

TEST_CASE("words that are too long are cut, and still give one counter") {
  LossCounters losses;
  losses.open();
  const std::string words(500, 'w');
  uint64_t* counter = losses.counter(words.c_str());
  REQUIRE(counter);
  CHECK(losses.counter(words.c_str()) == counter);
  *counter = 1;
  CHECK(nonzero(losses).begin()->first == std::string(LossCounters::kTextBytes - 1, 'w'));
}

TEST_CASE("threads that ask for the same counters at once get the same ones, and no add is lost") {
  auto losses = std::make_unique<LossCounters>();
  losses->open();
  test::run_threads(8, [&](int) {
    for (int round = 0; round < 1000; ++round) {
      uint64_t* counter = losses->counter(std::to_string(round % 40).c_str());
      add_relaxed(counter, uint64_t{1});
    }
  });
  const auto found = nonzero(*losses);
  CHECK(found.size() == 40);
  for (const auto& entry : found) CHECK(entry.second == 8 * 1000 / 40);
}
