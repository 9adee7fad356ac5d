// CPU timers and the handler for their signal.
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <thread>

#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

namespace {

constexpr int64_t kInterval = kNanosPerMilli;

struct Count {
  std::atomic<int64_t> weight{0};
  std::atomic<int64_t> signals{0};
  std::atomic<int64_t> foreign_threads{0};
  std::atomic<uint32_t> thread{0};
};

Count counts[3];
std::atomic<int> chained{0};

bool count_sample(void* value, void* context, uint32_t overrun) {
  for (Count& count : counts) {
    if (value != &count) continue;
    count.weight += 1 + overrun;
    ++count.signals;
    if (!context || count.thread != static_cast<uint32_t>(current_thread_id())) ++count.foreign_threads;
    errno = EDOM;  // the interrupted code must not see this
    return true;
  }
  return false;
}

void reset(Count* count, NativeThread thread) {
  count->weight = 0;
  count->signals = 0;
  count->foreign_threads = 0;
  count->thread = static_cast<uint32_t>(thread);
}

// Loose on purpose: the machine may be busy. Off by more than half means that weights or clocks are wrong.
void check_weight(const Count& count, int64_t used_ns) {
  const double expected = static_cast<double>(used_ns) / kInterval;
  CAPTURE(expected);
  CAPTURE(count.weight.load());
  CAPTURE(count.signals.load());
  CHECK(static_cast<double>(count.weight) > expected * 0.5);
  CHECK(static_cast<double>(count.weight) < expected * 1.5);
  CHECK(count.foreign_threads == 0);
}

struct Handler {
  Handler() { REQUIRE(install_sample_handler(count_sample) == 0); }
  ~Handler() { uninstall_sample_handler(); }
};

}  // namespace

TEST_CASE("a timer's weights follow the CPU time of its thread") {
  REQUIRE(cpu_timers_supported());
  const Handler handler;
  reset(&counts[0], current_thread_id());
  CpuTimer timer;
  REQUIRE(cpu_timer_create(&timer, current_thread_id(), &counts[0]) == 0);
  REQUIRE(cpu_timer_start(timer, kInterval) == 0);
  const int64_t start = thread_cpu_ns();
  errno = 0;
  burn_cpu(300 * kNanosPerMilli);
  CHECK(errno == 0);
  // A host that takes the processor away for long charges the time at once, and tells the timer at the next
  // tick.
  for (int tick = 0; tick < 50 && counts[0].weight < 200; ++tick) burn_cpu(20 * kNanosPerMilli);
  REQUIRE(cpu_timer_stop(timer) == 0);
  check_weight(counts[0], thread_cpu_ns() - start);

  const int64_t stopped_at = counts[0].weight;
  burn_cpu(50 * kNanosPerMilli);
  CHECK(counts[0].weight == stopped_at);
  CHECK(cpu_timer_delete(&timer) == 0);
  CHECK_FALSE(timer.is_created());
  CHECK(cpu_timer_delete(&timer) == 0);
}

TEST_CASE("a timer does not tick while its thread sleeps") {
  const Handler handler;
  reset(&counts[0], current_thread_id());
  CpuTimer timer;
  REQUIRE(cpu_timer_create(&timer, current_thread_id(), &counts[0]) == 0);
  REQUIRE(cpu_timer_start(timer, 20 * kNanosPerMilli) == 0);
  sleep_ns(100 * kNanosPerMilli);
  CHECK(counts[0].signals <= 1);
  cpu_timer_delete(&timer);
}

TEST_CASE("timers made by another thread tick on the threads they were made for") {
  const Handler handler;
  struct Worker {
    std::atomic<NativeThread> id{NativeThread::kNone};
    Event ready, go;
    int64_t used = 0;
  } workers[2];
  Thread threads[2];
  CpuTimer timers[2];
  auto work = [](void* argument) {
    Worker* w = static_cast<Worker*>(argument);
    sigset_t prof;
    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    pthread_sigmask(SIG_UNBLOCK, &prof, nullptr);
    w->id = current_thread_id();
    w->ready.signal();
    w->go.wait();
    const int64_t start = thread_cpu_ns();
    burn_cpu(150 * kNanosPerMilli);
    w->used = thread_cpu_ns() - start;
  };
  for (int i = 0; i < 2; ++i) {
    REQUIRE(threads[i].start("ticked", 0, work, &workers[i]) == 0);
    REQUIRE(workers[i].ready.wait());
    reset(&counts[i + 1], workers[i].id);
    REQUIRE(cpu_timer_create(&timers[i], workers[i].id, &counts[i + 1]) == 0);
    REQUIRE(cpu_timer_start(timers[i], kInterval) == 0);
  }
  for (Worker& worker : workers) worker.go.signal();
  for (int i = 0; i < 2; ++i) {
    REQUIRE(threads[i].join());
    check_weight(counts[i + 1], workers[i].used);
    CHECK(cpu_timer_delete(&timers[i]) == 0);  // its thread has ended
  }
}

TEST_CASE("a new interval holds for a timer that runs") {
  const Handler handler;
  reset(&counts[0], current_thread_id());
  CpuTimer timer;
  REQUIRE(cpu_timer_create(&timer, current_thread_id(), &counts[0]) == 0);
  REQUIRE(cpu_timer_start(timer, 3600 * kNanosPerSecond) == 0);
  burn_cpu(20 * kNanosPerMilli);
  CHECK(counts[0].signals == 0);
  REQUIRE(cpu_timer_start(timer, kInterval) == 0);
  burn_cpu(50 * kNanosPerMilli);
  CHECK(counts[0].weight > 0);
  CHECK(cpu_timer_start(timer, 0) != 0);
  CHECK(cpu_timer_start(timer, -1) != 0);
  cpu_timer_delete(&timer);
  CHECK(cpu_timer_start(timer, kInterval) != 0);
}

TEST_CASE("no timer for a thread that is not there") {
  CpuTimer timer;
  CHECK(cpu_timer_create(&timer, static_cast<NativeThread>(0x7ffffff0), nullptr) != 0);
  CHECK(cpu_timer_create(&timer, NativeThread::kNone, nullptr) != 0);
  CHECK_FALSE(timer.is_created());
}

TEST_CASE("signals that are not ours go to the handler that was there before") {
  chained = 0;
  struct sigaction before {
  }, theirs{};
  theirs.sa_sigaction = [](int, siginfo_t* info, void*) { chained += info->si_code == SI_TIMER ? 100 : 1; };
  theirs.sa_flags = SA_SIGINFO;
  REQUIRE(sigaction(SIGPROF, &theirs, &before) == 0);
  REQUIRE(install_sample_handler(count_sample) == 0);
  pthread_kill(pthread_self(), SIGPROF);
  CHECK(chained == 1);

  // A tick of another profiler, whose value we do not know.
  CpuTimer foreign;
  REQUIRE(cpu_timer_create(&foreign, current_thread_id(), &chained) == 0);
  REQUIRE(cpu_timer_start(foreign, kInterval) == 0);
  for (int i = 0; i < 1000 && chained < 100; ++i) burn_cpu(kNanosPerMilli);
  cpu_timer_delete(&foreign);
  CHECK(chained >= 100);

  uninstall_sample_handler();
  struct sigaction now {};
  sigaction(SIGPROF, nullptr, &now);
  CHECK((now.sa_sigaction == theirs.sa_sigaction));
  sigaction(SIGPROF, &before, nullptr);
}

TEST_CASE("a stray signal without a previous handler does not end the process, then or later") {
  signal(SIGPROF, SIG_DFL);
  REQUIRE(install_sample_handler(count_sample) == 0);
  pthread_kill(pthread_self(), SIGPROF);
  uninstall_sample_handler();
  pthread_kill(pthread_self(), SIGPROF);
  CHECK(true);  // still here
  signal(SIGPROF, SIG_DFL);
}

TEST_CASE("a handler installed after ours keeps its place and may hand on to us") {
  static struct sigaction ours;
  signal(SIGPROF, SIG_DFL);
  REQUIRE(install_sample_handler(count_sample) == 0);
  struct sigaction later {};
  later.sa_sigaction = [](int number, siginfo_t* info, void* context) {
    ours.sa_sigaction(number, info, context);
  };
  later.sa_flags = SA_SIGINFO;
  REQUIRE(sigaction(SIGPROF, &later, &ours) == 0);
  reset(&counts[0], current_thread_id());
  CHECK(request_sample(current_thread_id(), &counts[0]) == 0);
  CHECK(counts[0].weight == 1);
  uninstall_sample_handler();
  CHECK(request_sample(current_thread_id(), &counts[0]) == 0);
  CHECK(counts[0].weight == 1);
  struct sigaction now {};
  sigaction(SIGPROF, nullptr, &now);
  CHECK((now.sa_sigaction == later.sa_sigaction));
  // Once more from below: no circle of two handlers that call each other.
  REQUIRE(install_sample_handler(count_sample) == 0);
  pthread_kill(pthread_self(), SIGPROF);
  CHECK(request_sample(current_thread_id(), &counts[0]) == 0);
  CHECK(counts[0].weight == 2);
  REQUIRE(sigaction(SIGPROF, &ours, nullptr) == 0);
  uninstall_sample_handler();
  signal(SIGPROF, SIG_DFL);
}

TEST_CASE("a sample can be requested of another thread") {
  const Handler handler;
  struct Target {
    std::atomic<NativeThread> id{NativeThread::kNone};
    std::atomic<bool> stop{false};
  } target;
  std::thread thread([&] {
    target.id = current_thread_id();
    while (!target.stop) std::this_thread::yield();
  });
  while (target.id.load() == NativeThread::kNone) std::this_thread::yield();
  reset(&counts[0], target.id);
  CHECK(request_sample(target.id, &counts[0]) == 0);
  while (counts[0].weight == 0) std::this_thread::yield();
  CHECK(counts[0].foreign_threads == 0);
  target.stop = true;
  thread.join();
  CHECK(request_sample(static_cast<NativeThread>(0x7ffffff0), &counts[0]) == ESRCH);
}
