#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include <hprof/cpp/lock.hpp>

#include "tools/mock/mock_host.h"

using namespace hprof;

TEST_CASE("one thread at a time holds a lock") {
  MockHost mock;
  Services services(mock.host());
  Lock lock;
  uint64_t count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10000; n++) {
        LockGuard guard(lock, services);
        count++;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(count == 40000);
}

TEST_CASE("a lock that is held is tried") {
  Lock lock;
  REQUIRE(lock.try_lock());
  CHECK_FALSE(lock.try_lock());
  lock.unlock();
  CHECK(lock.try_lock());
}

// The holder runs only while the waiting thread has given the processor away, as with one processor and a
// waiting thread of a real-time priority.
TEST_CASE("who waits for a lock gives the processor to its holder") {
  MockHost mock;
  Services services(mock.host());
  Lock lock;
  REQUIRE(lock.try_lock());
  int pauses = 0;
  mock.on_pause = [&](uint64_t ns) {
    CHECK(ns > 0);
    if (++pauses == 3) lock.unlock();
  };
  lock.lock(services);
  CHECK(pauses == 3);
  CHECK_FALSE(lock.try_lock());
}
