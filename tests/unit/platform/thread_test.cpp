// Native threads and thread-local slots.
#include <signal.h>

#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

TEST_CASE("a thread runs its function and can be joined once more for free") {
  int value = 0;
  Thread thread;
  CHECK(thread.join(0));
  REQUIRE(thread.start(
              "writer", 0, [](void* v) { *static_cast<int*>(v) = 5; }, &value) == 0);
  CHECK(thread.started());
  CHECK(thread.join());
  CHECK(value == 5);
  CHECK_FALSE(thread.started());
  CHECK(thread.join());
}

TEST_CASE("joining a thread that runs ends at the deadline and works later") {
  Event stop;
  Thread thread;
  REQUIRE(thread.start(
              "waiter", 16 * 1024, [](void* e) { static_cast<Event*>(e)->wait(); }, &stop) == 0);
  CHECK_FALSE(thread.join(deadline_after_ms(10)));
  CHECK(thread.started());
  CHECK(thread.start(
            "again", 0, [](void*) {}, nullptr) != 0);
  stop.signal();
  CHECK(thread.join());
}

TEST_CASE("a detached thread runs on") {
  Event done;
  Thread thread;
  REQUIRE(thread.start(
              "loose", 0, [](void* e) { static_cast<Event*>(e)->signal(); }, &done) == 0);
  thread.detach();
  CHECK_FALSE(thread.started());
  CHECK(done.wait(deadline_after_ms(60000)));
}

TEST_CASE("asynchronous signals are blocked in a native thread and faults are not") {
  sigset_t mask;
  sigemptyset(&mask);
  Thread thread;
  REQUIRE(thread.start(
              "quiet", 0, [](void* m) { pthread_sigmask(SIG_SETMASK, nullptr, static_cast<sigset_t*>(m)); },
              &mask) == 0);
  REQUIRE(thread.join());
  for (int number : {SIGPROF, SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR2, SIGALRM}) {
    CHECK(sigismember(&mask, number) == 1);
  }
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) CHECK(sigismember(&mask, number) == 0);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  CHECK(sigismember(&own, SIGTERM) == 0);
}
