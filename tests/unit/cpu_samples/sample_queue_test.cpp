#include "plugins/cpu_samples/sample_queue.h"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::samples;

TEST_CASE("samples come out in the order they were claimed") {
  MockHost mock;
  Services services(mock.host());
  SampleQueue queue;
  REQUIRE(queue.open(services, 3) == HPROF_OK);
  CHECK(queue.front() == nullptr);
  for (uint32_t i = 0; i < 5; i++) {
    Sample* s = queue.claim();
    REQUIRE(s != nullptr);
    s->ticks = i;
    queue.publish(s);
  }
  CHECK(queue.waiting() == 5);
  for (uint32_t i = 0; i < 5; i++) {
    REQUIRE(queue.front() != nullptr);
    CHECK(queue.front()->ticks == i);
    queue.pop();
  }
  CHECK(queue.front() == nullptr);
  CHECK(queue.waiting() == 0);
  queue.close(services);
  CHECK(mock.memory_used == 0);
}

TEST_CASE("a full queue refuses, and takes again when one was popped") {
  MockHost mock;
  Services services(mock.host());
  SampleQueue queue;
  REQUIRE(queue.open(services, 1) == HPROF_OK);
  for (uint64_t lap = 0; lap < 3; lap++) {
    for (uint64_t i = 0; i < queue.slots(); i++) {
      Sample* s = queue.claim();
      REQUIRE(s != nullptr);
      queue.publish(s);
    }
    CHECK(queue.claim() == nullptr);
    for (uint64_t i = 0; i < queue.slots(); i++) queue.pop();
  }
  queue.close(services);
}

TEST_CASE("the consumer waits for a sample that is claimed but not yet published") {
  MockHost mock;
  Services services(mock.host());
  SampleQueue queue;
  REQUIRE(queue.open(services, 1) == HPROF_OK);
  Sample* slow = queue.claim();
  Sample* fast = queue.claim();
  fast->ticks = 2;
  queue.publish(fast);
  CHECK(queue.front() == nullptr);
  slow->ticks = 1;
  queue.publish(slow);
  REQUIRE(queue.front() == slow);
  queue.pop();
  CHECK(queue.front() == fast);
  queue.close(services);
}

TEST_CASE("deep stacks get fewer slots, and all frames fit") {
  MockHost mock;
  Services services(mock.host());
  SampleQueue shallow, deep;
  REQUIRE(shallow.open(services, 4) == HPROF_OK);
  CHECK(shallow.slots() == SampleQueue::kMostSlots);
  REQUIRE(deep.open(services, SampleQueue::kMostDepth) == HPROF_OK);
  CHECK(deep.slots() == SampleQueue::kFewestSlots);
  for (uint64_t i = 0; i < deep.slots(); i++) {
    Sample* s = deep.claim();
    for (uint32_t f = 0; f < deep.depth(); f++) s->frames[f] = {static_cast<int32_t>(f), s};
    s->frame_count = static_cast<int32_t>(i);
    deep.publish(s);
  }
  for (uint64_t i = 0; i < deep.slots(); i++) {
    Sample* s = deep.front();
    CHECK(s->frame_count == static_cast<int32_t>(i));
    CHECK(s->frames[deep.depth() - 1].method == s);
    deep.pop();
  }
  shallow.close(services);
  deep.close(services);
  CHECK(mock.memory_used == 0);
}

TEST_CASE("no memory is an answer") {
  MockHost mock;
  mock.memory_limit = 1000;
  Services services(mock.host());
  SampleQueue queue;
  CHECK(queue.open(services, 4) == HPROF_NO_MEMORY);
  CHECK_FALSE(queue.is_open());
}

TEST_CASE("eight producers lose nothing but what they count as refused") {
  MockHost mock;
  Services services(mock.host());
  SampleQueue queue;
  REQUIRE(queue.open(services, 4) == HPROF_OK);
  constexpr uint32_t kProducers = 8, kEach = 20000;
  std::atomic<uint32_t> done{0};
  std::atomic<uint64_t> refused{0};
  std::vector<std::thread> producers;
  for (uint32_t p = 1; p <= kProducers; p++) {
    producers.emplace_back([&, p] {
      for (uint32_t i = 1; i <= kEach; i++) {
        Sample* s = queue.claim();
        if (s == nullptr) {
          refused++;
          continue;
        }
        s->thread = p;
        s->ticks = i;
        s->frame_count = 4;
        for (auto* f = s->frames; f != s->frames + 4; f++) *f = {static_cast<int32_t>(i), nullptr};
        queue.publish(s);
      }
      done++;
    });
  }
  uint64_t taken = 0, torn = 0, disordered = 0;
  uint32_t last[kProducers + 1] = {};
  for (;;) {
    bool last_round = done == kProducers;
    while (Sample* s = queue.front()) {
      if (s->frames[0].index != s->frames[3].index || s->frames[0].index != static_cast<int32_t>(s->ticks))
        torn++;
      if (s->ticks <= last[s->thread]) disordered++;
      last[s->thread] = s->ticks;
      taken++;
      queue.pop();
    }
    if (last_round) break;
  }
  for (auto& p : producers) p.join();
  CHECK(taken + refused == kProducers * kEach);
  CHECK(taken >= queue.slots());
  CHECK(torn == 0);
  CHECK(disordered == 0);
  queue.close(services);
}
