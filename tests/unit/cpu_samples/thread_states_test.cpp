#include "plugins/cpu_samples/thread_states.h"

#include <atomic>
#include <doctest/doctest.h>
#include <set>
#include <thread>
#include <vector>

#include "tests/mock/mock_host.h"

using namespace hprof;
using namespace hprof::samples;

TEST_CASE("a thread has one state from first sight to its end") {
  MockHost mock;
  Services services(mock.host());
  ThreadStates states;
  std::vector<bool> fresh;
  auto note = [&](ThreadState*, bool is_new) { fresh.push_back(is_new); };
  CHECK(states.with_new(services, 7, note));
  CHECK(states.with_new(services, 7, note));
  CHECK(states.with_new(services, 7 + 256, note));  // the same chain
  CHECK(fresh == std::vector<bool>{true, false, true});
  CHECK(states.with(7, [](ThreadState* s) { ThreadStates::free_state(s); }));
  CHECK_FALSE(states.with(7, [](ThreadState*) {}));
  CHECK(states.with(7 + 256, [](ThreadState*) {}));
  std::set<uint32_t> live;
  states.each([&](ThreadState* s) { live.insert(s->serial); });
  CHECK(live == std::set<uint32_t>{7 + 256});
  states.close(services);
  CHECK(mock.memory_used == 0);
}

TEST_CASE("a handle of a thread that has ended leads nowhere, even when its state has a new owner") {
  MockHost mock;
  Services services(mock.host());
  ThreadStates states;
  void* handle = nullptr;
  ThreadState* first = nullptr;
  REQUIRE(
      states.with_new(services, 1, [&](ThreadState* s, bool) { handle = ThreadStates::handle(first = s); }));
  CHECK(ThreadStates::from_handle(handle) == first);
  states.with(1, [](ThreadState* s) { ThreadStates::free_state(s); });
  CHECK(ThreadStates::from_handle(handle) == nullptr);
  ThreadState* second = nullptr;
  REQUIRE(states.with_new(services, 1 + 256, [&](ThreadState* s, bool) { second = s; }));
  CHECK(second == first);
  CHECK(ThreadStates::from_handle(handle) == nullptr);
  CHECK(ThreadStates::from_handle(ThreadStates::handle(second)) == second);
  states.close(services);
}

TEST_CASE("no memory for a state is an answer") {
  MockHost mock;
  Services services(mock.host());
  mock.memory_limit = 0;
  ThreadStates states;
  CHECK_FALSE(states.with_new(services, 1, [](ThreadState*, bool) {}));
}

TEST_CASE("threads that come and go at the same time keep their states apart") {
  MockHost mock;
  Services services(mock.host());
  ThreadStates states;
  std::atomic<uint32_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 8; t++) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 2000; i++) {
        uint32_t serial = 1 + t * 256 + i % 3;  // all in the same three chains
        states.with_new(services, serial, [&](ThreadState* s, bool is_new) {
          if (!is_new || s->os_id != 0) wrong++;
          s->os_id = serial;
        });
        states.with(serial, [&](ThreadState* s) {
          if (s->os_id != serial) wrong++;
          ThreadStates::free_state(s);
        });
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  uint32_t left = 0;
  states.each([&](ThreadState*) { left++; });
  CHECK(left == 0);
  states.close(services);
  CHECK(mock.memory_used == 0);
}
