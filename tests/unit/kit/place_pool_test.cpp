#include <doctest/doctest.h>
#include <set>
#include <thread>
#include <vector>

#include <hprof/cpp/lock.hpp>
#include <hprof/cpp/place_pool.hpp>

#include "tools/mock/mock_host.h"

using namespace hprof;

namespace {

struct Place : PooledPlace {
  std::atomic<uint32_t> owner;
};
using Pool = PlacePool<Place, 2, 12>;

}  // namespace

TEST_CASE("a place that was given back is taken again") {
  MockHost mock;
  Services services(mock.host());
  Pool pool;
  Place* first = pool.take(services);
  Place* second = pool.take(services);
  REQUIRE(first != nullptr);
  CHECK(first != second);
  CHECK(first->owner == 0);
  first->owner = 5;
  pool.give_back(second);
  pool.give_back(first);
  CHECK(pool.take(services) == first);
  CHECK(pool.take(services) == second);
  CHECK(first->owner == 5);
  uint32_t visited = 0;
  pool.each([&](Place&) { visited++; });
  CHECK(visited == 2);
  pool.close(services);
  CHECK(mock.memory_used == 0);
}

TEST_CASE("places are all there is, and no more") {
  MockHost mock;
  Services services(mock.host());
  PlacePool<Place, 2, 3> pool;
  std::set<Place*> places;
  while (Place* place = pool.take(services)) places.insert(place);
  CHECK(places.size() == 15);
  pool.give_back(*places.begin());
  CHECK(pool.take(services) == *places.begin());
  pool.close(services);
  mock.memory_limit = 0;
  CHECK(pool.take(services) == nullptr);
}

TEST_CASE("no two threads have one place") {
  MockHost mock;
  Services services(mock.host());
  Pool pool;
  std::atomic<uint32_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 1; t <= 4; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3000; i++) {
        Place* a = pool.take(services);
        Place* b = pool.take(services);
        if (a == nullptr || b == nullptr || a->owner.exchange(t) != 0 || b->owner.exchange(t) != 0) {
          wrong++;
          continue;
        }
        if (a->owner.exchange(0) != t || b->owner.exchange(0) != t) wrong++;
        pool.give_back(a);
        pool.give_back(b);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  uint32_t places = 0;
  pool.each([&](Place&) { places++; });
  CHECK(places <= 8);
  pool.close(services);
  CHECK(mock.memory_used == 0);
}

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
