// Looks: signals from one thread to another, and the states of threads.
#include <atomic>

#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

namespace {

std::atomic<int> looks{0};

void count_look(void* value, void* context, uint32_t overrun) {
  if (value == &looks && context != nullptr && overrun == 0) ++looks;
}

}  // namespace

TEST_CASE("a look reaches the thread that it was sent to, with its value") {
  looks = 0;
  REQUIRE(install_sample_handler(count_look) == 0);
  CHECK(send_look(current_thread_id(), &looks) == 0);
  CHECK(looks == 1);
  CHECK(send_look(static_cast<NativeThread>(0x7ffffff0), &looks) != 0);
  CHECK(looks == 1);
  uninstall_sample_handler();
}

TEST_CASE("the state of a thread: running, blocked, gone") {
  CHECK(thread_state(current_thread_id()) == RunState::kRunnable);
  CHECK(thread_state(static_cast<NativeThread>(0x7ffffff0)) == RunState::kUnknown);
  struct Sleeper {
    std::atomic<NativeThread> id{NativeThread::kNone};
    Event go;
  } sleeper;
  Thread thread;
  const auto sleep = [](void* argument) {
    auto* s = static_cast<Sleeper*>(argument);
    s->id = current_thread_id();
    s->go.wait(monotonic_ns() + 60 * kNanosPerSecond);
  };
  REQUIRE(thread.start("sleeper", 0, sleep, &sleeper) == 0);
  const int64_t deadline = monotonic_ns() + 50 * kNanosPerSecond;
  while (sleeper.id == NativeThread::kNone || thread_state(sleeper.id) != RunState::kBlocked) {
    REQUIRE(monotonic_ns() < deadline);
    sleep_ns(kNanosPerMilli);
  }
  sleeper.go.signal();
  CHECK(thread.join(monotonic_ns() + 60 * kNanosPerSecond));
}
