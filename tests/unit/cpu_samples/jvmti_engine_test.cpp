#include <doctest/doctest.h>

#include "tests/unit/cpu_samples/sampled_vm.h"

using namespace hprof;
using Rows = std::map<std::string, uint64_t>;

namespace {

constexpr uint64_t kMs = 1000000;

struct Fixture {
  SampledVm vm;

  // A thread with a stack of one method of that name.
  FakeVm::Thread* thread(hprof_thread_serial serial, uint64_t os_id, const std::string& name) {
    vm.mock.thread_cpu_ns[os_id] = 50 * kMs;  // used before the start
    return &vm.add_thread(serial, os_id, "App." + name);
  }
  void start(const std::string& interval = "10") {
    vm.create({{"sampler", "jvmti"}, {"interval", interval}});
    REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
    CHECK(vm.timers.empty());
  }
  void used(uint64_t os_id, uint64_t ns) { vm.mock.thread_cpu_ns[os_id] += ns; }
  Rows rows() {
    vm.report();
    return vm.rows();
  }
};

}  // namespace

TEST_CASE("a thread is charged its CPU time in whole intervals, the rest is carried on") {
  Fixture f;
  f.thread(1, 101, "busy");
  f.start();
  f.used(101, 9 * kMs);
  f.vm.run_thread(10 * kMs);
  CHECK(f.rows() == Rows{{"JVM.no_samples", 0}});
  f.used(101, 9 * kMs);
  f.vm.run_thread(10 * kMs);
  CHECK(f.rows() == Rows{{"App.busy", 1}});
  f.used(101, 22 * kMs);
  f.vm.run_thread(10 * kMs);
  CHECK(f.rows() == Rows{{"App.busy", 4}});
  CHECK(f.vm.local_frames == 0);
  CHECK(f.vm.local_refs == 0);
}

TEST_CASE("a thread whose CPU clock jumps is charged no more than the elapsed time") {
  Fixture f;
  f.thread(1, 101, "busy");
  f.start();
  f.used(101, 86400 * 1000 * kMs);
  f.vm.run_thread(200 * kMs);
  const uint64_t charged = f.rows()["App.busy"];
  CHECK(charged >= 20);
  CHECK(charged <= 30);  // 100 ms more are for clocks that move in steps
}

TEST_CASE("the interval is no shorter than the steps of the CPU clocks, which the notes name") {
  Fixture f;
  f.thread(1, 101, "busy");
  f.vm.mock.cpu_clock_step_ns = 15'625'000;
  SUBCASE("shorter") {
    f.vm.mock.cpu_clock_reads_a_step = 150'000;  // what a fast processor can do meanwhile
    f.start("1");
    CHECK(f.vm.mock.said("CPU clocks move in steps of 15.625 ms"));
    f.rows();
    CHECK(f.vm.has_note("interval 15.625 ms"));
  }
  SUBCASE("longer") {
    f.start("20");
    CHECK(f.vm.mock.messages.empty());
    f.rows();
    CHECK(f.vm.has_note("interval 20 ms"));
  }
  CHECK(f.vm.has_note("; CPU clocks move in steps of 15.625 ms"));
}

TEST_CASE("a thread whose CPU clock stands still is never a sample") {
  Fixture f;
  f.thread(1, 101, "epoll");
  f.start();
  f.used(101, 15 * kMs);
  f.vm.run_thread(10 * kMs);
  for (int i = 0; i < 20; i++) f.vm.run_thread(10 * kMs);
  CHECK(f.rows() == Rows{{"App.epoll", 1}});
  CHECK(f.vm.single_calls == 1);
}

TEST_CASE("a thread that used CPU but is parked or blocked when its turn comes is sampled once it runs") {
  Fixture f;
  FakeVm::Thread* t = f.thread(1, 101, "work");
  f.start();
  t->state = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_PARKED;
  f.used(101, 30 * kMs);
  f.vm.run_thread(10 * kMs);
  CHECK(f.vm.single_calls == 0);
  t->state = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_RUNNABLE | JVMTI_THREAD_STATE_IN_NATIVE;
  f.used(101, 5 * kMs);
  f.vm.run_thread(10 * kMs);  // in native code, and its clock does not move meanwhile: in epoll
  CHECK(f.vm.single_calls == 0);
  f.vm.on_state = [&](FakeVm::Thread&) { f.used(101, 1000); };
  f.used(101, 5 * kMs);
  f.vm.run_thread(10 * kMs);
  CHECK(f.rows() == Rows{{"App.work", 4}});
}

TEST_CASE("CPU time that is never seen being used is put down as such") {
  Fixture f;
  FakeVm::Thread* t = f.thread(1, 101, "epoll");
  f.start();
  t->state = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_RUNNABLE | JVMTI_THREAD_STATE_IN_NATIVE;
  for (int i = 0; i < 64; i++) {
    f.used(101, 5 * kMs);
    f.vm.run_thread(10 * kMs);
  }
  CHECK(f.rows() == Rows{{"JVM.not_seen_running", 32}});
}

TEST_CASE("several threads' stacks are taken in one call") {
  Fixture f;
  f.thread(1, 101, "a");
  f.thread(2, 102, "b");
  f.thread(3, 103, "idle");
  f.start();
  f.used(101, 10 * kMs);
  f.used(102, 20 * kMs);
  f.vm.run_thread(10 * kMs);
  CHECK(f.rows() == Rows{{"App.a", 1}, {"App.b", 2}});
  CHECK(f.vm.list_calls == 1);
  CHECK(f.vm.single_calls == 0);
}

TEST_CASE("a new thread is charged from its start on, until its end") {
  Fixture f;
  f.start("1");
  FakeVm::Thread* t = f.thread(4, 104, "young");
  hprof_thread* thread = &f.vm.mock.app_threads.back().thread;
  f.vm.ops->handlers->thread_start(f.vm.self, f.vm.jni(), thread);
  f.used(104, 3 * kMs);  // beside what its native code had used before it was attached
  f.vm.run_thread(1 * kMs);
  CHECK(f.rows() == Rows{{"App.young", 3}});
  f.used(104, 2 * kMs);
  f.vm.ops->handlers->thread_end(f.vm.self, f.vm.jni(), thread);
  f.used(104, 5 * kMs);
  CHECK(f.rows() == Rows{{"App.young", 3}, {"JVM.not_seen_running", 2}});
  f.vm.run_thread(1 * kMs);
  CHECK(f.rows() == Rows{{"App.young", 3}, {"JVM.not_seen_running", 2}});
  CHECK(t->stack.size() == 1);
}

TEST_CASE("a new thread whose CPU clock cannot be read at its start is charged from the next round on") {
  Fixture f;
  f.start("1");
  f.thread(4, 104, "young");
  hprof_thread* thread = &f.vm.mock.app_threads.back().thread;
  f.vm.mock.thread_cpu_ns.erase(104);
  f.vm.ops->handlers->thread_start(f.vm.self, f.vm.jni(), thread);
  f.vm.mock.thread_cpu_ns[104] = 70 * kMs;
  f.vm.run_thread(1 * kMs);
  f.used(104, 2 * kMs);
  f.vm.run_thread(1 * kMs);
  CHECK(f.rows() == Rows{{"App.young", 2}});
}

TEST_CASE("a thread that ends while the engine starts is no loss, one without a CPU clock is") {
  for (const bool has_ended : {true, false}) {
    Fixture f;
    f.thread(1, 101, "brief")->state = has_ended ? JVMTI_THREAD_STATE_TERMINATED : JVMTI_THREAD_STATE_ALIVE;
    f.vm.mock.thread_cpu_ns.erase(101);
    f.start();
    CHECK(f.vm.mock.loss("sampled threads: their CPU time cannot be read (clock=wall)") ==
          (has_ended ? 0 : 1));
  }
}

TEST_CASE("the jvmti engine stops, starts and gives its memory back") {
  Fixture f;
  f.thread(1, 101, "busy");
  f.start();
  for (uint64_t round = 1; round <= 2; round++) {
    f.used(101, 10 * kMs);
    f.vm.run_thread(10 * kMs);
    f.vm.ops->stop(f.vm.self);
    CHECK(f.vm.mock.agent_threads.empty());
    CHECK(f.rows() == Rows{{"App.busy", round}});
    f.used(101, 100 * kMs);  // nobody watches
    REQUIRE(f.vm.ops->start(f.vm.self) == HPROF_OK);
  }
  f.vm.destroy();
  CHECK(f.vm.mock.memory_used == 0);
}

TEST_CASE("depth=0 with the jvmti engine asks for no stacks") {
  Fixture f;
  f.vm.mock.settings.depth = 0;
  f.thread(1, 101, "busy");
  f.start();
  f.used(101, 10 * kMs);
  f.vm.run_thread(10 * kMs);
  CHECK(f.rows() == Rows{{"JVM.depth_zero", 1}});
  CHECK(f.vm.single_calls + f.vm.list_calls == 0);
}
