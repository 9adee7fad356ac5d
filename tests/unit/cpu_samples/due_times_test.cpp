// When a thread is due for a sample.
#include "plugins/cpu_samples/due_times.h"

#include <doctest/doctest.h>

using namespace hprof::samples;

namespace {

constexpr uint64_t kInterval = 1000;

struct Due {
  uint64_t begin(uint64_t cpu) { return begin_due(entry(), cpu, kInterval); }
  uint32_t take(uint64_t cpu) { return take_due(entry(), cpu, kInterval, &wait); }
  SampledThread* entry() { return reinterpret_cast<SampledThread*>(memory); }
  alignas(SampledThread) char memory[sizeof(SampledThread)] = {};
  uint64_t wait = 0;
};

}  // namespace

TEST_CASE("a thread is due once in each interval, at any moment of it alike") {
  Due due;
  uint64_t next = 123'456'789;
  next += due.begin(next);
  const uint64_t second = due.entry()->second_interval.load();
  constexpr uint64_t kParts = 10;
  uint64_t parts[kParts] = {}, last = 0;
  for (uint64_t i = 0; i < 10'000; i++) {
    CHECK(due.take(next - 1) == 0);
    CHECK(due.wait == 1);
    CHECK(due.take(next) == 1);
    const uint64_t interval = (next - second + kInterval) / kInterval;  // 0 is the one of the beginning
    if (i != 0) CHECK(interval == last + 1);
    last = interval;
    parts[(next - second + kInterval) % kInterval * kParts / kInterval]++;
    next += due.wait;
  }
  for (uint64_t part : parts) {
    CHECK(part > 850);
    CHECK(part < 1150);
  }
}

TEST_CASE("however late it is asked, what is due adds up to the CPU time") {
  Due due;
  uint64_t cpu = 7;
  due.begin(cpu);
  const uint64_t from = cpu;
  uint64_t taken = 0;
  for (uint64_t i = 0; i < 1000; i++) {
    cpu += i * i % 7919;
    taken += due.take(cpu);
    CHECK(taken <= (cpu - from) / kInterval + 2);
    CHECK(taken + 2 > (cpu - from) / kInterval);
  }
  CHECK(due.take(cpu) == 0);
}

TEST_CASE("of threads that use a fifth of an interval a fifth is due") {
  Due due;
  uint64_t taken = 0;
  for (uint64_t i = 0; i < 10'000; i++) {
    due.begin(i * 77'777);
    taken += due.take(i * 77'777 + kInterval / 5);
  }
  CHECK(taken > 1850);
  CHECK(taken < 2150);
}

TEST_CASE("a thread that is not sampled is never due") {
  Due due;
  due.begin(5);
  due.entry()->due.store(SampledThreads::kNeverDue);
  CHECK(due.take(UINT64_MAX - 1) == 0);
  CHECK(due.wait == 0);
}
