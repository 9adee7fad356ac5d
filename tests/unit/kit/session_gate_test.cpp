#include <atomic>
#include <doctest/doctest.h>
#include <string>
#include <thread>

#include <hprof/cpp/session_gate.hpp>

#include "tools/mock/mock_host.h"

using namespace hprof;

TEST_CASE("a gate that is closed lets nobody in") {
  MockHost mock;
  SessionGate gate;
  uint32_t entered = 0;
  const auto enter = [&] { return gate.enter([&] { entered++; }); };
  CHECK_FALSE(enter());
  gate.open();
  CHECK(enter());
  CHECK(gate.close(Services(mock.host()), "unit=y"));
  CHECK_FALSE(enter());
  CHECK(entered == 1);
  CHECK(mock.messages.empty());
}

TEST_CASE("it does not wait for ever for a thread that stays inside") {
  MockHost mock;
  SessionGate gate;
  std::atomic<bool> is_inside{false}, leaves{false};
  mock.on_pause = [](uint64_t) {};
  gate.open();
  std::thread suspended([&] {
    gate.enter([&] {
      is_inside = true;
      while (!leaves) std::this_thread::yield();
    });
  });
  while (!is_inside) std::this_thread::yield();
  CHECK_FALSE(gate.close(Services(mock.host()), "unit=y"));
  REQUIRE(mock.messages.size() == 1);
  CHECK(mock.messages[0] == "unit=y: a thread is still in a probe: the memory is not freed");
  leaves = true;
  suspended.join();
  CHECK(gate.close(Services(mock.host()), "unit=y"));
}
