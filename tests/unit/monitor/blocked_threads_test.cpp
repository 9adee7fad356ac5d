#include "plugins/monitor/blocked_threads.h"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "tests/mock/mock_host.h"

using namespace hprof;
using namespace hprof::monitor;

namespace {

struct Fixture {
  MockHost mock;
  Services services{mock.host()};
  std::unique_ptr<BlockedThreads> pool{new BlockedThreads};

  ~Fixture() {
    pool->close(services);
    CHECK(mock.memory_used == 0);
  }
  BlockedThread* take(hprof_thread_serial thread) { return pool->take(services, thread); }
};

}  // namespace

TEST_CASE("a place is the thread's until it is given back, then the next one's") {
  Fixture f;
  BlockedThread *a = f.take(1), *b = f.take(2);
  REQUIRE(a != nullptr);
  REQUIRE(b != nullptr);
  CHECK(a != b);
  CHECK(a->owner == 1);
  f.pool->give_back(a);
  CHECK(a->owner == 0);
  CHECK(f.take(3) == a);
  CHECK(a->owner == 3);
  std::set<uint32_t> owners;
  f.pool->each([&](BlockedThread& place) { owners.insert(place.owner); });
  CHECK(owners == std::set<uint32_t>{2, 3});
}

TEST_CASE("a snapshot is of a thread that is blocked now") {
  Fixture f;
  BlockedThread* place = f.take(5);
  BlockedNow now;
  CHECK_FALSE(BlockedThreads::snapshot(*place, &now));
  BlockedThreads::begin(place, Doing::kEntering, 1000, 7, 3);
  REQUIRE(BlockedThreads::snapshot(*place, &now));
  CHECK(now.thread == 5);
  CHECK(now.doing == Doing::kEntering);
  CHECK(now.since == 1000);
  CHECK(now.trace == 7);
  CHECK(now.monitor == 3);
  BlockedThreads::end(place);
  CHECK_FALSE(BlockedThreads::snapshot(*place, &now));
  BlockedThreads::begin(place, Doing::kWaiting, 2000, 0, 3);
  f.pool->give_back(place);
  CHECK_FALSE(BlockedThreads::snapshot(*place, &now));
}

TEST_CASE("there are places for 65536 threads, the next has none, memory is what bounds it earlier") {
  Fixture f;
  std::vector<BlockedThread*> places;
  for (uint32_t i = 1; i <= BlockedThreads::kMost; i++) places.push_back(f.take(i));
  CHECK(std::set<BlockedThread*>(places.begin(), places.end()).size() == BlockedThreads::kMost);
  CHECK(f.take(70000) == nullptr);
  f.pool->give_back(places[0]);
  CHECK(f.take(70001) == places[0]);
  Fixture poor;
  poor.mock.memory_limit = 100;
  CHECK(poor.take(1) == nullptr);
}

TEST_CASE("eight threads take and give back, and never share a place") {
  Fixture f;
  std::atomic<uint32_t> bad{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 1; t <= 8; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5000; i++) {
        BlockedThread *a = f.take(t), *b = f.take(t);
        if (a == nullptr || b == nullptr || a == b) {
          bad++;
          return;
        }
        BlockedThreads::begin(a, Doing::kEntering, t * 1000000 + static_cast<uint32_t>(i), t, t);
        BlockedNow now;
        if (!BlockedThreads::snapshot(*a, &now) || now.trace != t) bad++;
        f.pool->give_back(a);
        if (b->owner != t) bad++;
        f.pool->give_back(b);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(bad == 0);
}

TEST_CASE("a snapshot never mixes two times") {
  Fixture f;
  BlockedThread* place = f.take(1);
  std::atomic<bool> stop{false};
  std::thread owner([&] {
    for (uint32_t i = 1; !stop; i++) {
      BlockedThreads::begin(place, Doing::kEntering, i, i, i);
      // Long enough to be seen now and then.
      for (int pause = 0; pause < 200; pause++) std::atomic_signal_fence(std::memory_order_seq_cst);
      BlockedThreads::end(place);
    }
  });
  uint32_t mixed = 0, seen = 0;
  while (seen < 1000) {
    BlockedNow now;
    if (!BlockedThreads::snapshot(*place, &now)) continue;
    seen++;
    mixed += now.trace != now.since || now.monitor != now.since;
  }
  stop = true;
  owner.join();
  CHECK(mixed == 0);
}
