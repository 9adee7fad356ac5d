#include "plugins/heap_sites/allocating_threads.h"

#include <doctest/doctest.h>
#include <set>
#include <thread>
#include <vector>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::sites;

TEST_CASE("counts stay where they are while more are made") {
  MockHost mock;
  KnownStacks stacks;
  AllocatingThreads threads(stacks);
  REQUIRE(threads.open(Services(mock.host())));
  AllocatingThread* thread = threads.get(&mock);
  REQUIRE(thread != nullptr);
  Count* first = AllocatingThreads::count_of(thread, 17);
  REQUIRE(first != nullptr);
  CHECK(first->site == 17);
  std::set<Count*> all;
  for (uint32_t site = 1; site <= 3000; site++) {
    Count* count = AllocatingThreads::count_of(thread, site * 7);
    REQUIRE(count != nullptr);
    count->add({site, 0});
    all.insert(count);
  }
  CHECK(all.size() == 3000);
  CHECK(AllocatingThreads::count_of(thread, 17) == first);
  for (uint32_t site = 1; site <= 3000; site++)
    CHECK(AllocatingThreads::count_of(thread, site * 7)->allocated.objects == site);
  threads.close();
  CHECK(mock.memory_used == 0);
}

TEST_CASE("an environment has one state, also when many threads come at the same time") {
  MockHost mock;
  KnownStacks stacks;
  AllocatingThreads threads(stacks);
  REQUIRE(threads.open(Services(mock.host())));
  constexpr uintptr_t kThreads = 4, kEach = 500;
  std::vector<std::thread> running;
  for (uintptr_t t = 0; t < kThreads; t++) {
    running.emplace_back([&threads, t] {
      for (uintptr_t i = 1; i <= kEach; i++) {
        AllocatingThread* thread = threads.get(reinterpret_cast<void*>((t * kEach + i) * 1024));
        if (thread != nullptr) thread->serial++;
      }
    });
  }
  for (auto& thread : running) thread.join();
  uint32_t count = 0;
  threads.each([&](AllocatingThread& thread) {
    CHECK(thread.serial == 1);
    count++;
  });
  CHECK(count == kThreads * kEach);
  CHECK(threads.get(reinterpret_cast<void*>(1024))->serial == 1);
  threads.close();
  CHECK(mock.memory_used == 0);
}

TEST_CASE("the state of a thread that has ended goes to the next one, and its counts stay") {
  MockHost mock;
  KnownStacks stacks;
  AllocatingThreads threads(stacks);
  REQUIRE(threads.open(Services(mock.host())));
  int first = 0, second = 0, third = 0;
  AllocatingThread* state = threads.get(&first);
  AllocatingThreads::count_of(state, 17)->add({5, 80});
  uint32_t released = 0;
  const auto release = [&](AllocatingThread&) { released++; };
  threads.end(&second, release);
  CHECK(released == 0);
  AllocatingThread* other = threads.get(&second);
  CHECK(other != state);
  threads.end(&first, release);
  threads.end(&first, release);
  CHECK(released == 1);
  CHECK(threads.get(&third) == state);
  CHECK(threads.get(&second) == other);
  CHECK(AllocatingThreads::count_of(state, 17)->read().objects == 5);
  CHECK(threads.get(&first) != state);
  uint32_t all = 0;
  threads.each([&](AllocatingThread&) { all++; });
  CHECK(all == 3);
  threads.close();
  CHECK(mock.memory_used == 0);
}

TEST_CASE("without memory a thread has no state, and gets one when there is some") {
  MockHost mock;
  KnownStacks stacks;
  AllocatingThreads threads(stacks);
  REQUIRE(threads.open(Services(mock.host())));
  mock.memory_limit = mock.memory_used + sizeof(AllocatingThread);
  CHECK(threads.get(&mock) == nullptr);
  mock.memory_limit = UINT64_MAX;
  CHECK(threads.get(&mock) != nullptr);
  threads.close();
  CHECK(mock.memory_used == 0);
}
