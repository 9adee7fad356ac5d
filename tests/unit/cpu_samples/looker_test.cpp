// Looks at random moments: who is looked at, and what a look weighs.
#include <doctest/doctest.h>

#include "tests/unit/cpu_samples/fake_vm.h"

using namespace hprof;
using Rows = std::map<std::string, uint64_t>;

namespace {

constexpr uint64_t kInterval = 10'000'000;

// The collector with sampler=random and one thread, 101.
struct Looked : FakeVm {
  Looked() {
    has_looks = true;
    stack = {{1, method("App", "f")}};
    mock.thread_cpu_ns[101] = 500 * kInterval;  // used before: not ours
    mock.add_app_thread(1, 101);
    create({{"sampler", "random"}});
    REQUIRE(ops->start(self) == HPROF_OK);
    look_around();
  }
  void burn(uint64_t os_id, uint64_t ns) { mock.thread_cpu_ns[os_id] += ns; }
};

}  // namespace

TEST_CASE("a look weighs the CPU time since the last one, and rounding is carried on") {
  Looked vm;
  CHECK(vm.timers.empty());
  vm.burn(101, kInterval);
  vm.look_around();
  vm.report();
  CHECK(vm.rows() == Rows{{"App.f", 1}});
  vm.mock.running_threads.insert(101);
  for (int i = 0; i < 10; i++) {
    vm.burn(101, kInterval * 6 / 10);
    vm.look_around();
  }
  vm.report();
  CHECK(vm.total() == 7);
  vm.burn(101, 30 * kInterval);
  vm.look_around();
  vm.report();
  CHECK(vm.total() == 37);
  CHECK(vm.notes().find("engine random, interval 10 ms, 37 samples") != std::string::npos);
  CHECK(vm.notes().find(" of equal weight; the standard error of a share of 50% is ") != std::string::npos);
}

TEST_CASE("a thread that uses no CPU is not looked at, one that is blocked is not signalled") {
  Looked vm;
  for (int i = 0; i < 5; i++) vm.look_around();
  CHECK(vm.looks_sent == 0);
  vm.blocked.insert(101);
  vm.burn(101, 2 * kInterval);
  vm.look_around();
  CHECK(vm.looks_sent == 0);
  vm.blocked.clear();
  vm.burn(101, 1000);
  vm.look_around();
  CHECK(vm.looks_sent == 1);
  vm.report();
  CHECK(vm.rows() == Rows{{"App.f", 2}});
}

TEST_CASE("a thread that waits for a processor is passed by, unless nobody is met on one") {
  Looked vm;
  for (int i = 0; i < 10; i++) {  // on a machine with a single processor
    vm.burn(101, kInterval);
    vm.look_around();
  }
  CHECK(vm.looks_sent == 10);
  vm.mock.running_threads.insert(101);
  vm.burn(101, kInterval);
  vm.look_around();
  CHECK(vm.looks_sent == 11);
  vm.mock.running_threads.clear();
  const uint32_t states_read = vm.states_read;
  for (int i = 0; i < 50; i++) {
    vm.burn(101, kInterval);
    vm.look_around();
    // Whether it is blocked matters to one that owes much.
    if (i < 7) CHECK(vm.states_read == states_read);
  }
  CHECK(vm.states_read > states_read);
  CHECK(vm.looks_sent == 11);
  vm.mock.running_threads.insert(101);
  vm.burn(101, kInterval);
  vm.look_around();
  CHECK(vm.looks_sent == 12);
  vm.report();
  CHECK(vm.total() == 62);
  vm.mock.running_threads.clear();
  vm.mock.now_ns += 1'100'000'000;
  vm.burn(101, kInterval);
  vm.look_around();
  CHECK(vm.looks_sent == 13);
}

TEST_CASE("CPU time of a thread that is never met running is a row of its own") {
  Looked vm;
  vm.blocked.insert(101);
  for (int i = 0; i < 3; i++) {
    vm.burn(101, 6 * kInterval);
    vm.look_around();
  }
  vm.report();
  CHECK(vm.looks_sent == 0);
  CHECK(vm.rows() == Rows{{"JVM.not_seen_running", 12}});
}

TEST_CASE("a thread's last CPU time is told at its end, and a look that comes later is nobody's") {
  Looked vm;
  vm.burn(101, 3 * kInterval);
  vm.looks_are_late = true;
  vm.look_around();
  CHECK(vm.looks_sent == 1);
  vm.mock.running_threads.insert(101);
  vm.burn(101, 2 * kInterval);
  vm.look_around();
  CHECK(vm.looks_sent == 1);  // one on its way is enough
  hprof_thread* thread = &vm.mock.app_threads.at(0).thread;
  vm.ops->handlers->thread_end(vm.self, vm.jni(), thread);
  vm.arrive();
  vm.report();
  CHECK(vm.rows() == Rows{{"JVM.not_seen_running", 5}});
}

TEST_CASE("threads that start are looked at from then on, also in places of others") {
  Looked vm;
  for (hprof_thread_serial serial = 2; serial < 50; serial++) {
    const uint64_t os_id = 100 + serial;
    vm.mock.thread_cpu_ns[os_id] = 7 * kInterval;
    hprof_thread* thread = vm.start_thread(serial, os_id);
    vm.burn(os_id, 2 * kInterval);
    vm.look_around();
    vm.ops->handlers->thread_end(vm.self, vm.jni(), thread);
  }
  vm.report();
  CHECK(vm.rows() == Rows{{"App.f", 96}});
}

TEST_CASE("of threads that use a part of an interval as many are sampled as their CPU time is worth") {
  Looked vm;
  for (hprof_thread_serial serial = 2; serial < 2002; serial++) {
    const uint64_t os_id = 100 + serial;
    vm.mock.thread_cpu_ns[os_id] = serial * 1000;
    hprof_thread* thread = vm.start_thread(serial, os_id);
    vm.burn(os_id, kInterval / 5);
    vm.ops->handlers->thread_end(vm.self, vm.jni(), thread);
    vm.look_around();
  }
  vm.report();
  CHECK(vm.total() > 300);
  CHECK(vm.total() < 500);
}

TEST_CASE("a thread that has slept for long is found again") {
  Looked vm;
  for (int i = 0; i < 500; i++) vm.look_around();
  vm.burn(101, kInterval);
  vm.look_around();
  vm.look_around();
  vm.report();
  CHECK(vm.total() == 1);
}

TEST_CASE("looks that end a system call are counted") {
  Looked vm;
  vm.look_ends_a_call = true;
  vm.burn(101, kInterval);
  vm.look_around();
  CHECK(vm.mock.loss("CPU samples that ended a system call of the program's (EINTR)") == 1);
}

TEST_CASE(
    "a look that came early, where a system call ends, is sent again: at once where that has happened "
    "lately") {
  Looked vm;
  vm.mock.running_threads.insert(101);
  vm.burn(101, kInterval);
  vm.look_around();  // tells how long a signal takes
  CHECK(vm.looks_sent == 1);
  vm.mock.running_threads.clear();
  vm.looks_at_calls = 1;
  vm.mock.now_ns += 1'100'000'000;
  vm.burn(101, kInterval);
  vm.look_around();
  CHECK(vm.looks_sent == 2);
  vm.report();
  CHECK(vm.total() == 1);
  vm.burn(101, kInterval);
  vm.look_around();
  CHECK(vm.looks_sent == 3);
  vm.report();
  CHECK(vm.total() == 3);
  vm.looks_at_calls = 1;
  vm.burn(101, kInterval);
  vm.look_around();
  hprof_thread* thread = &vm.mock.app_threads.at(0).thread;
  vm.ops->handlers->thread_end(vm.self, vm.jni(), thread);
  vm.report();
  CHECK(vm.rows() == Rows{{"App.f", 3}, {"JVM.not_seen_running", 1}});
}

TEST_CASE("a thread whose looks all come where a system call ends is seen there") {
  Looked vm;
  vm.looks_at_calls = 1000;
  for (int i = 0; i < 40; i++) {
    vm.mock.now_ns += 1'100'000'000;
    vm.burn(101, kInterval);
    vm.look_around();
  }
  vm.report();
  CHECK(vm.rows()["App.f"] >= 32);
  CHECK(vm.rows()["App.f"] <= 40);
}

TEST_CASE("stop and start: what is used between them does not count") {
  Looked vm;
  vm.ops->stop(vm.self);
  CHECK(vm.mock.agent_threads.empty());
  vm.burn(101, 9 * kInterval);
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.look_around();
  vm.burn(101, kInterval);
  vm.look_around();
  vm.report();
  CHECK(vm.total() == 1);
  vm.destroy();
  CHECK(vm.mock.memory_used == 0);
}

TEST_CASE("a look that is lost is sent again, with the weight of both") {
  Looked vm;
  vm.mock.running_threads.insert(101);
  vm.looks_are_lost = true;
  vm.burn(101, kInterval);
  vm.look_around();
  vm.burn(101, 97 * kInterval);
  vm.look_around();
  CHECK(vm.looks_sent == 1);
  vm.looks_are_lost = false;
  vm.burn(101, 4 * kInterval);
  vm.look_around();
  CHECK(vm.looks_sent == 2);
  vm.report();
  CHECK(vm.rows() == Rows{{"App.f", 102}});
}

TEST_CASE("without looks there are timers") {
  for (const bool forbidden : {false, true}) {
    FakeVm vm;
    vm.has_looks = vm.looks_are_forbidden = forbidden;
    vm.stack = {{1, vm.method("App", "f")}};
    vm.mock.add_app_thread(1, 101);
    vm.create({{"sampler", "random"}});
    REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
    const std::string why = "looks at threads are forbidden here (rt_tgsigqueueinfo)";
    CHECK(vm.mock.said(why + "; sampling with timers (sampler=signal) instead"));
    CHECK(vm.timers.size() == 1);
    CHECK(vm.mock.agent_threads.size() == 1);
  }
}
