// CPU timers and the handler for their signal.
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

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

void count_sample(void* value, void* context, uint32_t overrun) {
  for (Count& count : counts) {
    if (value != &count) continue;
    count.weight += 1 + overrun;
    ++count.signals;
    if (!context || count.thread != static_cast<uint32_t>(current_thread_id())) ++count.foreign_threads;
    errno = EDOM;  // the interrupted code must not see this
  }
}

void reset(Count* count, NativeThread thread) {
  count->weight = 0;
  count->signals = 0;
  count->foreign_threads = 0;
  count->thread = static_cast<uint32_t>(thread);
}

// Burns CPU until `done` or for a minute of elapsed time. The kernel looks at a timer at its own ticks only,
// and on a busy machine a thread may run for seconds between them; the tick that meets it then tells all that
// was used.
template <class Done>
void burn_until(Done done) {
  const int64_t deadline = monotonic_ns() + 60 * kNanosPerSecond;
  while (!done() && monotonic_ns() < deadline) burn_cpu(kNanosPerMilli);
}

// Loose on purpose. Off by more than half means that weights or clocks are wrong.
bool weighs_half(const Count& count, int64_t used_ns) { return count.weight * 2 > used_ns / kInterval; }

void check_weight(const Count& count, int64_t used_ns) {
  const double expected = static_cast<double>(used_ns) / kInterval;
  CAPTURE(expected);
  CAPTURE(count.weight.load());
  CAPTURE(count.signals.load());
  CHECK(weighs_half(count, used_ns));
  CHECK(static_cast<double>(count.weight) < expected * 1.5);
  CHECK(count.foreign_threads == 0);
}

// A timer that is none of the platform's.
class ForeignTimer {
 public:
  explicit ForeignTimer(void* value) {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGPROF;
    event.sigev_value.sival_ptr = value;
    const itimerspec every = {{0, kInterval}, {0, kInterval}};
    REQUIRE(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0);
    REQUIRE(timer_settime(timer_, 0, &every, nullptr) == 0);
  }
  ~ForeignTimer() { timer_delete(timer_); }
  ForeignTimer(const ForeignTimer&) = delete;
  ForeignTimer& operator=(const ForeignTimer&) = delete;

 private:
  timer_t timer_;
};

struct Handler {
  Handler() { REQUIRE(install_sample_handler(count_sample) == 0); }
  ~Handler() { uninstall_sample_handler(); }
};

}  // namespace

TEST_CASE("a thread is seen to block the signal of CPU timers") {
  sigset_t prof, before;
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  pthread_sigmask(SIG_UNBLOCK, &prof, &before);
  CHECK_FALSE(blocks_cpu_timers(current_thread_id()));
  pthread_sigmask(SIG_BLOCK, &prof, nullptr);
  CHECK(blocks_cpu_timers(current_thread_id()));
  sigdelset(&prof, SIGPROF);
  sigaddset(&prof, SIGPROF - 1);
  sigaddset(&prof, SIGPROF + 1);
  pthread_sigmask(SIG_SETMASK, &prof, nullptr);
  CHECK_FALSE(blocks_cpu_timers(current_thread_id()));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  CHECK_FALSE(blocks_cpu_timers(static_cast<NativeThread>(INT32_MAX)));
}

TEST_CASE("a timer's weights follow the CPU time of its thread") {
  REQUIRE(kHasCpuTimers);
  const Handler handler;
  reset(&counts[0], current_thread_id());
  CpuTimer timer;
  REQUIRE(cpu_timer_create(&timer, current_thread_id(), &counts[0]) == 0);
  REQUIRE(cpu_timer_start(timer, kInterval) == 0);
  const int64_t start = thread_cpu_ns();
  errno = 0;
  burn_cpu(300 * kNanosPerMilli);
  CHECK(errno == 0);
  burn_until([&] { return weighs_half(counts[0], thread_cpu_ns() - start); });
  CHECK(cpu_timer_delete(&timer) == 0);
  CHECK_FALSE(timer.is_created());
  check_weight(counts[0], thread_cpu_ns() - start);

  const int64_t stopped_at = counts[0].weight;
  burn_cpu(50 * kNanosPerMilli);
  CHECK(counts[0].weight == stopped_at);
  CHECK(cpu_timer_delete(&timer) == 0);
}

TEST_CASE("the system refuses no timer of a thread that has ended") {
  NativeThread ended{};
  std::thread([&] { ended = current_thread_id(); }).join();
  CpuTimer timer;
  const int error = cpu_timer_create(&timer, ended, nullptr);
  CHECK(error != 0);
  CHECK_FALSE(is_refusal_of_timers(error));
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
    const Count* count = nullptr;
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
    burn_until([&] { return weighs_half(*w->count, thread_cpu_ns() - start); });
    w->used = thread_cpu_ns() - start;
  };
  for (int i = 0; i < 2; ++i) {
    REQUIRE(threads[i].start("ticked", 0, work, &workers[i]) == 0);
    REQUIRE(workers[i].ready.wait());
    reset(&counts[i + 1], workers[i].id);
    workers[i].count = &counts[i + 1];
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
  burn_until([] { return counts[0].weight > 0; });
  CHECK(counts[0].weight > 0);
  CHECK(cpu_timer_start(timer, 0) != 0);
  CHECK(cpu_timer_start(timer, -1) != 0);
  cpu_timer_delete(&timer);
  CHECK(cpu_timer_start(timer, kInterval) != 0);
}

namespace {

std::atomic<uint64_t> calls[3];
CpuTimer moments;
InterruptedCall wanted;

// The thread may be kept from its call for longer than the timer waits, which is then set again.
void count_call(void*, void* context, uint32_t) {
  const InterruptedCall call = interrupted_call(context);
  ++calls[static_cast<uint32_t>(call)];
  if (call != wanted) moment_timer_start(moments, 5 * kNanosPerMilli);
}

void restart_calls(bool restart) {
  struct sigaction action {};
  REQUIRE(sigaction(SIGPROF, nullptr, &action) == 0);
  action.sa_flags = restart ? action.sa_flags | SA_RESTART : action.sa_flags & ~SA_RESTART;
  REQUIRE(sigaction(SIGPROF, &action, nullptr) == 0);
}

}  // namespace

TEST_CASE("a timer of moments expires once, also in a system call, and tells what it does to that") {
  if (!knows_interrupted_calls()) return;
  REQUIRE(install_sample_handler(count_call) == 0);
  REQUIRE(install_fault_guard() == 0);
  CHECK(tick_length_ns() > 0);
  CHECK(tick_length_ns() <= 10 * kNanosPerMilli);
  REQUIRE(moment_timer_create(&moments, current_thread_id(), nullptr) == 0);
  CHECK(moment_timer_start(moments, 0) != 0);
  const auto expires_in = [&](auto wait, InterruptedCall expected) {
    for (auto& count : calls) count = 0;
    wanted = expected;
    REQUIRE(moment_timer_start(moments, 5 * kNanosPerMilli) == 0);
    wait();
    CHECK(calls[static_cast<uint32_t>(expected)] == 1);
  };
  expires_in([] { burn_until([] { return calls[0] != 0; }); }, InterruptedCall::kNone);
  expires_in(
      [] {
        const timespec minute = {60, 0};
        CHECK(nanosleep(&minute, nullptr) == -1);
        CHECK(errno == EINTR);
      },
      InterruptedCall::kEnded);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const auto read_byte = [&](bool restart) {
    return [&ends, restart] {
      std::thread writer([&ends, restart] {
        while (restart && calls[1] == 0) sleep_ns(kNanosPerMilli);
        if (restart) CHECK(write(ends[1], "x", 1) == 1);
      });
      char byte = 0;
      CHECK(read(ends[0], &byte, 1) == (restart ? 1 : -1));
      writer.join();
    };
  };
  expires_in(read_byte(true), InterruptedCall::kRestarts);
  restart_calls(false);
  expires_in(read_byte(false), InterruptedCall::kEnded);
  close(ends[0]);
  close(ends[1]);
  CHECK(cpu_timer_delete(&moments) == 0);
  uninstall_fault_guard();
  uninstall_sample_handler();
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

  // Timers of another profiler, with values that ours have, or might have.
  reset(&counts[0], current_thread_id());
  CpuTimer timer;
  REQUIRE(cpu_timer_create(&timer, current_thread_id(), &counts[0]) == 0);
  for (uintptr_t value : {uintptr_t{0}, uintptr_t{timer.place}, uintptr_t{timer.place} + 1,
                          uintptr_t{100000000}, reinterpret_cast<uintptr_t>(&counts[0]), UINTPTR_MAX}) {
    chained = 0;
    const ForeignTimer foreign(reinterpret_cast<void*>(value));
    burn_until([] { return chained >= 100; });
    CHECK(chained >= 100);
  }
  // Raised with the value of one of ours.
  chained = 0;
  sigval value;
  value.sival_ptr = reinterpret_cast<void*>(uintptr_t{timer.place});
  REQUIRE(sigqueue(getpid(), SIGPROF, value) == 0);
  CHECK(chained == 1);
  CHECK(counts[0].signals == 0);
  cpu_timer_delete(&timer);

  uninstall_sample_handler();
  struct sigaction now {};
  sigaction(SIGPROF, nullptr, &now);
  CHECK((now.sa_sigaction == theirs.sa_sigaction));
  sigaction(SIGPROF, &before, nullptr);
}

TEST_CASE("a late tick of a timer that was deleted goes to nobody, and not to the next timer's value") {
  chained = 0;
  struct sigaction before {
  }, theirs{};
  theirs.sa_sigaction = [](int, siginfo_t*, void*) { chained++; };
  theirs.sa_flags = SA_SIGINFO;
  REQUIRE(sigaction(SIGPROF, &theirs, &before) == 0);
  {
    const Handler handler;
    reset(&counts[0], current_thread_id());
    reset(&counts[1], current_thread_id());
    CpuTimer gone, next;
    REQUIRE(cpu_timer_create(&gone, current_thread_id(), &counts[0]) == 0);
    const CpuTimer late = gone;
    CHECK(cpu_timer_delete(&gone) == 0);
    REQUIRE(send_tick(late) == 0);
    REQUIRE(cpu_timer_create(&next, current_thread_id(), &counts[1]) == 0);
    CHECK(next.place == late.place);
    REQUIRE(send_tick(late) == 0);
    CHECK(chained == 0);
    CHECK(counts[0].signals == 0);
    CHECK(counts[1].signals == 0);
    REQUIRE(send_tick(next) == 0);
    CHECK(counts[1].signals == 1);
    cpu_timer_delete(&next);
  }
  sigaction(SIGPROF, &before, nullptr);
}

TEST_CASE("thousands of timers at a time keep their values apart") {
  const Handler handler;
  std::vector<CpuTimer> timers(3000);
  for (size_t i = 0; i < timers.size(); ++i)
    REQUIRE(cpu_timer_create(&timers[i], current_thread_id(), &counts[i % 3]) == 0);
  for (Count& count : counts) reset(&count, current_thread_id());
  for (const CpuTimer& timer : timers) REQUIRE(send_tick(timer) == 0);
  for (const Count& count : counts) CHECK(count.signals == 1000);
  for (CpuTimer& timer : timers) CHECK(cpu_timer_delete(&timer) == 0);
}

TEST_CASE("threads that make and delete timers at the same time get places of their own") {
  const Handler handler;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&wrong] {
      Count count;
      for (int i = 0; i < 2000; ++i) {
        CpuTimer pair[2];
        for (CpuTimer& timer : pair)
          if (cpu_timer_create(&timer, current_thread_id(), &count) != 0) ++wrong;
        if (pair[0].place == pair[1].place) ++wrong;
        for (CpuTimer& timer : pair) cpu_timer_delete(&timer);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
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
  CpuTimer timer;
  REQUIRE(cpu_timer_create(&timer, current_thread_id(), &counts[0]) == 0);
  CHECK(send_tick(timer) == 0);
  CHECK(counts[0].weight == 1);
  uninstall_sample_handler();
  CHECK(send_tick(timer) == 0);
  CHECK(counts[0].weight == 1);
  struct sigaction now {};
  sigaction(SIGPROF, nullptr, &now);
  CHECK((now.sa_sigaction == later.sa_sigaction));
  // Once more from below: no circle of two handlers that call each other.
  REQUIRE(install_sample_handler(count_sample) == 0);
  pthread_kill(pthread_self(), SIGPROF);
  CHECK(send_tick(timer) == 0);
  CHECK(counts[0].weight == 2);
  REQUIRE(sigaction(SIGPROF, &ours, nullptr) == 0);
  uninstall_sample_handler();
  cpu_timer_delete(&timer);
  signal(SIGPROF, SIG_DFL);
}
