#include <doctest/doctest.h>
#include <set>
#include <thread>
#include <vector>

#include <hprof/cpp/entry_pool.hpp>
#include <hprof/cpp/lock.hpp>

#include "tools/mock/mock_host.h"

using namespace hprof;

namespace {

struct Entry : PooledEntry {
  std::atomic<uint32_t> owner;
};
using Pool = EntryPool<Entry, 2, 12>;

}  // namespace

TEST_CASE("an entry that was given back is taken again") {
  MockHost mock;
  Services services(mock.host());
  Pool pool;
  Entry* first = pool.take(services);
  Entry* second = pool.take(services);
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
  pool.each([&](Entry&) { visited++; });
  CHECK(visited == 2);
  pool.close(services);
  CHECK(mock.memory_used == 0);
}

TEST_CASE("entries are all there is, and no more") {
  MockHost mock;
  Services services(mock.host());
  EntryPool<Entry, 2, 3> pool;
  std::set<Entry*> entries;
  while (Entry* entry = pool.take(services)) entries.insert(entry);
  CHECK(entries.size() == 15);
  pool.give_back(*entries.begin());
  CHECK(pool.take(services) == *entries.begin());
  pool.close(services);
  mock.memory_limit = 0;
  CHECK(pool.take(services) == nullptr);
}

TEST_CASE("no two threads have one entry") {
  MockHost mock;
  Services services(mock.host());
  Pool pool;
  std::atomic<uint32_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 1; t <= 4; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3000; i++) {
        Entry* a = pool.take(services);
        Entry* b = pool.take(services);
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
  uint32_t entries = 0;
  pool.each([&](Entry&) { entries++; });
  CHECK(entries <= 8);
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
