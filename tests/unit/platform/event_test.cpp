// Events and conditions across threads.
#include <atomic>
#include <cerrno>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include "platform/platform.h"

using namespace hprof::platform;

TEST_CASE("a signal that came before the wait is not lost, and is taken once") {
  Event event;
  event.signal();
  event.signal();
  CHECK(event.wait(0));
  CHECK_FALSE(event.wait(0));
}

TEST_CASE("a wait without a signal ends at its deadline and not before") {
  Event event;
  const int64_t deadline = deadline_after_ms(20);
  CHECK_FALSE(event.wait(deadline));
  CHECK(monotonic_ns() >= deadline);
  CHECK_FALSE(event.wait(-1));
}

TEST_CASE("events carry values to and fro between threads") {
  Event there, back;
  int value = 0;
  constexpr int kRounds = 20000;
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      there.wait();
      ++value;
      back.signal();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    there.signal();
    REQUIRE(back.wait(deadline_after_ms(60000)));
    REQUIRE(value == i + 1);
  }
  other.join();
}

TEST_CASE("no signal is lost with several waiters") {
  Event event;
  std::atomic<int> woken{0};
  constexpr int kWaiters = 4;
  std::vector<std::thread> waiters;
  for (int i = 0; i < kWaiters; ++i) {
    waiters.emplace_back([&] {
      event.wait();
      ++woken;
    });
  }
  for (int i = 0; i < kWaiters; ++i) {
    event.signal();
    while (woken.load() <= i) std::this_thread::yield();
  }
  for (std::thread& waiter : waiters) waiter.join();
  CHECK(woken == kWaiters);
}

TEST_CASE("signal keeps errno") {
  Event event;
  std::thread waiter([&] { event.wait(); });
  errno = 77;
  event.signal();
  CHECK(errno == 77);
  waiter.join();
}

TEST_CASE("a condition wakes its waiter and respects its deadline") {
  Mutex mutex;
  Condition condition;
  bool ready = false;
  {
    MutexLock lock(mutex);
    CHECK_FALSE(condition.wait(mutex, deadline_after_ms(10)));
  }
  std::thread other([&] {
    MutexLock lock(mutex);
    ready = true;
    condition.notify_all();
  });
  {
    MutexLock lock(mutex);
    while (!ready) condition.wait(mutex);
  }
  other.join();
  CHECK(ready);
}

TEST_CASE("try_lock fails while another thread holds the mutex") {
  Mutex mutex;
  REQUIRE(mutex.try_lock());
  bool got = true;
  std::thread([&] { got = mutex.try_lock(); }).join();
  CHECK_FALSE(got);
  mutex.unlock();
  CHECK(mutex.try_lock());
  mutex.unlock();
}
