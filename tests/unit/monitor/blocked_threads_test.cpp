#include "plugins/monitor/blocked_threads.h"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <thread>

#include "tools/mock/mock_host.h"

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
