#include "plugins/queues/waiting_tasks.h"

#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::queues;

namespace {

struct Fixture {
  MockHost mock;
  Services services{mock.host()};
  WaitingTasks waiting;

  Fixture() { REQUIRE(waiting.open(services)); }
  ~Fixture() {
    waiting.close();
    CHECK(mock.memory_used == 0);
  }
  int64_t taken(uint32_t hash, bool last = false) {
    Task task = {};
    return waiting.take(hash, last, &task) ? task.since : -1;
  }
};

}  // namespace

TEST_CASE(
    "tasks of one hash begin in the order in which they were submitted, and the last can be taken back") {
  Fixture f;
  for (int64_t since = 1; since <= 4; since++) CHECK(f.waiting.add({7, 0, 0, since, nullptr}));
  CHECK(f.waiting.has(7));
  CHECK(f.taken(7) == 1);
  CHECK(f.taken(7, true) == 4);
  CHECK(f.taken(7) == 2);
  CHECK(f.waiting.add({7, 0, 0, 5, nullptr}));
  CHECK(f.taken(7) == 3);
  CHECK(f.taken(7, true) == 5);
  CHECK(f.taken(7) == -1);
  CHECK(!f.waiting.has(7));
}

TEST_CASE("tasks of different hashes in one place are told apart") {
  Fixture f;
  constexpr uint32_t kHashes = 4 * WaitingTasks::kBuckets;
  for (uint32_t hash = 1; hash <= kHashes; hash++) REQUIRE(f.waiting.add({hash, 0, 0, hash, nullptr}));
  for (uint32_t hash = kHashes; hash != 0; hash -= 2) REQUIRE(f.taken(hash, hash % 3 == 0) == hash);
  for (uint32_t hash = 1; hash <= kHashes; hash++) REQUIRE(f.waiting.has(hash) == (hash % 2 != 0));
  CHECK(f.waiting.add({2, 0, 0, 22, nullptr}));
  CHECK(f.taken(2) == 22);
}

TEST_CASE("without memory a task is refused") {
  Fixture f;
  f.mock.memory_limit = f.mock.memory_used;
  CHECK(!f.waiting.add({7, 0, 0, 1, nullptr}));
  f.mock.memory_limit = UINT64_MAX;
}

TEST_CASE("threads that submit and begin tasks at the same time lose none and get none twice") {
  Fixture f;
  constexpr uint32_t kThreads = 4, kTasks = 20000;
  std::vector<uint64_t> sums(kThreads);
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; thread++) {
    threads.emplace_back([&, thread] {
      // Hashes that all threads use, and few of them.
      for (uint32_t i = 0; i < kTasks; i++) {
        if (!f.waiting.add({i % 16 + 1, 0, 0, 1, nullptr})) continue;
        Task task;
        if (f.waiting.take((i * 7 + thread) % 16 + 1, i % 5 == 0, &task))
          sums[thread] += static_cast<uint64_t>(task.since);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t sum = 0;
  for (const uint64_t of : sums) sum += of;
  for (uint32_t hash = 1; hash <= 16; hash++) {
    while (f.taken(hash) == 1) sum++;
  }
  CHECK(sum == kThreads * kTasks);
}
