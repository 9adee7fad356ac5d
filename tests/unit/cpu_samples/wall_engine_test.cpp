// Wall-clock samples: what one weighs, when a stack is taken, which threads are sampled.
#include <doctest/doctest.h>

#include "tests/unit/cpu_samples/sampled_vm.h"

using namespace hprof;
using Rows = std::map<std::string, uint64_t>;

namespace {

constexpr uint64_t kMs = 1000000;
constexpr jint kAlive = JVMTI_THREAD_STATE_ALIVE;
constexpr jint kParked = kAlive | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_PARKED;

struct Walled {
  SampledVm vm;

  // Looks cost nothing.
  Walled() { vm.mock.thread_cpu_ns[0] = 0; }

  // A thread with a stack of one method of that name, parked.
  FakeVm::Thread* thread(hprof_thread_serial serial, const std::string& name) {
    vm.mock.thread_cpu_ns[100 + serial] = 50 * kMs;
    FakeVm::Thread& thread = vm.add_thread(serial, 100 + serial, "App." + name);
    thread.state = kParked;
    return &thread;
  }
  // The same, with a name and a group.
  FakeVm::Thread* own(const char* name, const char* group, const char* parent_group) {
    return thread(vm.mock.add_thread(name, group, parent_group), name);
  }
  std::vector<jvmtiFrameInfo> frames(const std::vector<std::string>& methods) {
    std::vector<jvmtiFrameInfo> stack;
    for (const std::string& method : methods) stack.push_back({vm.UnitVm::method(method), 1});
    return stack;
  }
  // One that starts while the collector runs.
  FakeVm::Thread* start_thread(hprof_thread_serial serial, const std::string& name) {
    FakeVm::Thread* started = thread(serial, name);
    FakeVm::run(started);
    vm.ops->handlers->thread_start(vm.self, vm.jni(), started->view);
    return started;
  }
  void start(std::map<std::string, std::string> options = {}) {
    options["clock"] = "wall";
    vm.create(options);
    REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
    CHECK(vm.timers.empty());
    CHECK_FALSE(vm.installed);
  }
  void ran(hprof_thread_serial serial) { vm.mock.thread_cpu_ns[100 + serial] += 1000; }
  Rows rows() {
    vm.report();
    return vm.rows();
  }
  std::vector<std::string> trace(size_t row) {
    const auto all = rows_of<hprof_cpu_row>(*vm.table());
    return vm.mock.trace_text(static_cast<hprof_trace_serial>(all.at(row).trace));
  }
};

}  // namespace

TEST_CASE(
    "clock=wall: a sample weighs the time since the last one, running or not, and rounding is carried on") {
  Walled w;
  w.thread(1, "park");
  w.start();
  for (int i = 0; i < 10; i++) w.vm.run_thread(14 * kMs);
  CHECK(w.rows() == Rows{{"App.park", 14}});
  CHECK(w.trace(0).at(1).find("STATE.parked") == 0);
  CHECK(w.vm.table()->totals[HPROF_CPU_TIME].u == 140 * kMs);
  CHECK(w.vm.local_frames == 0);
}

TEST_CASE("clock=wall: the stack of a thread that has not run since is not taken again") {
  Walled w;
  FakeVm::Thread* park = w.thread(1, "park");
  w.start();
  for (int i = 0; i < 10; i++) w.vm.run_thread(10 * kMs);
  CHECK(w.vm.list_calls == 1);
  w.ran(1);
  park->state = kAlive | JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER;
  w.vm.run_thread(10 * kMs);
  CHECK(w.vm.list_calls == 2);
  CHECK(w.rows() == Rows{{"App.park", 11}});
  CHECK(w.trace(1).at(1).find("STATE.blocked") == 0);
  CHECK(w.vm.has_note("2 stacks were taken"));
}

TEST_CASE("clock=wall: each state has a frame of its own") {
  const std::map<std::string, jint> states = {
      {"runnable", kAlive | JVMTI_THREAD_STATE_RUNNABLE},
      {"native", kAlive | JVMTI_THREAD_STATE_RUNNABLE | JVMTI_THREAD_STATE_IN_NATIVE},
      {"blocked", kAlive | JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER},
      {"waiting", kAlive | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_IN_OBJECT_WAIT},
      {"parked", kParked},
      {"sleeping", kAlive | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_SLEEPING},
  };
  for (const auto& [name, state] : states) {
    Walled w;
    w.thread(1, "f")->state = state;
    w.start();
    w.vm.run_thread(10 * kMs);
    CHECK(w.rows() == Rows{{"App.f", 1}});
    CHECK(w.trace(0).at(1).find("STATE." + name + "(") == 0);
  }
}

TEST_CASE("clock=wall: threads that start and end have all their time in the samples") {
  Walled w;
  w.start();
  for (hprof_thread_serial serial = 1; serial <= 30; serial++) {
    FakeVm::Thread* thread = w.start_thread(serial, "brief");
    w.vm.run_thread(10 * kMs);
    w.vm.mock.now_ns += 4 * kMs;
    w.vm.ops->handlers->thread_end(w.vm.self, w.vm.jni(), thread->view);
    thread->state = 0;
  }
  w.vm.run_thread(10 * kMs);
  CHECK(w.rows() == Rows{{"App.brief", 30}, {"JVM.not_sampled", 12}});
  CHECK(w.vm.weak_refs() == 0);
}

TEST_CASE("clock=wall: before Java 16 stacks are taken together, in one stop of the VM") {
  Walled w;
  w.vm.mock.settings.java_version = 8;
  for (hprof_thread_serial serial = 1; serial <= 5; serial++) w.thread(serial, "f" + std::to_string(serial));
  w.start();
  w.vm.run_thread(20 * kMs);
  CHECK(w.vm.list_calls == 1);
  CHECK(w.rows().size() == 5);
  CHECK(w.vm.total() == 10);
  CHECK(w.vm.has_note("the VM was stopped 1 times for them"));
}

TEST_CASE("clock=wall: more threads than there is time for are sampled by turns") {
  Walled w;
  for (hprof_thread_serial serial = 1; serial <= 100; serial++)
    w.thread(serial, "f" + std::to_string(serial));
  w.start();
  w.vm.run_thread(10 * kMs);
  CHECK(w.rows().size() < 20);
  for (int i = 0; i < 50; i++) w.vm.run_thread(10 * kMs);
  CHECK(w.rows().size() == 100);
  CHECK(w.vm.total() >= 100 * 50);
}

TEST_CASE("clock=wall: only threads of the names asked for") {
  Walled w;
  w.thread(w.vm.mock.add_thread("http-1", "main", "system"), "serve");
  w.thread(w.vm.mock.add_thread("other", "main", "system"), "other");
  w.start({{"threads", "http-*"}});
  w.vm.run_thread(10 * kMs);
  CHECK(w.rows() == Rows{{"App.serve", 1}});
}

TEST_CASE("clock=wall: waits of the JDK's own threads are a note, unless threads= chooses them") {
  const char* const note =
      "cpu=samples: not in the table: 20 samples, 66.67% of all, of the JDK's own threads";
  for (const char* names : {"", "*"}) {
    Walled w;
    w.own("Finalizer", "system", "")->stack = w.frames({"java.lang.Object.wait", "java.lang.Thread.run"});
    w.own("carrier", "CarrierThreads", "system")->stack = w.frames({"jdk.internal.misc.Unsafe.park"});
    w.own("mine", "main", "system");
    w.start({{"threads", names}});
    for (int i = 0; i < 10; i++) w.vm.run_thread(10 * kMs);
    const bool is_all = *names != 0;
    CHECK((w.rows() ==
           (is_all
                ? Rows{{"App.mine", 10}, {"java.lang.Object.wait", 10}, {"jdk.internal.misc.Unsafe.park", 10}}
                : Rows{{"App.mine", 10}})));
    CHECK(w.vm.has_note(note) == !is_all);
    // After a reset there is nothing left of them.
    w.vm.ops->reset(w.vm.self);
    CHECK(w.rows() == Rows{{"JVM.no_samples", 0}});
    CHECK_FALSE(w.vm.has_note("not in the table"));
  }
}

TEST_CASE("clock=wall: the JDK's own threads are in the table with the program's code, and while they run") {
  Walled w;
  w.vm.mock.settings.depth = 2;
  w.vm.mock.settings.java_version = 8;  // all stacks together
  const auto waits = w.frames({"java.lang.Object.wait", "java.lang.Object.wait", "java.lang.Thread.run"});
  const auto named = [&](const char* name, const char* group, const char* parent) {
    FakeVm::Thread* thread = w.own(name, group, parent);
    thread->stack = waits;
    return thread;
  };
  named("waits", "system", "");
  // Below the depth of traces.
  named("Finalizer", "system", "")->stack.push_back(w.frames({"App.finalize"})[0]);
  named("runs", "system", "")->state = kAlive | JVMTI_THREAD_STATE_RUNNABLE;
  named("blocked", "system", "")->state = kAlive | JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER;
  // Too deep to see all of it.
  named("deep", "system", "")->stack.assign(60, waits[0]);
  // The program's group of that name.
  named("pool", "system", "main");
  w.start();
  w.vm.run_thread(20 * kMs);
  w.rows();
  std::set<std::string> states;
  for (size_t row = 0; row < rows_of<hprof_cpu_row>(*w.vm.table()).size(); row++) {
    CHECK(w.trace(row).size() == 3);  // two frames and the state
    states.insert(w.trace(row).back().substr(0, w.trace(row).back().find('(')));
  }
  CHECK(states == std::set<std::string>{"STATE.blocked", "STATE.parked", "STATE.runnable"});
  CHECK(w.vm.total() == 10);
  CHECK(w.vm.has_note("not in the table: 2 samples, 16.67% of all"));
}

TEST_CASE("clock=wall: stop, start, reset and sampling switched off leave time out") {
  Walled w;
  w.thread(1, "park");
  w.start();
  w.vm.run_thread(10 * kMs);
  w.vm.ops->stop(w.vm.self);
  CHECK(w.vm.mock.agent_threads.empty());
  CHECK(w.vm.weak_refs() == 0);
  w.vm.mock.now_ns += 500 * kMs;
  REQUIRE(w.vm.ops->start(w.vm.self) == HPROF_OK);
  w.vm.run_thread(10 * kMs);
  CHECK(w.rows() == Rows{{"App.park", 2}});
  hprof_control off = {sizeof(hprof_control), HPROF_CONTROL_CPU_SAMPLING, 0, 0};
  CHECK(w.vm.ops->control(w.vm.self, &off) == HPROF_OK);
  w.vm.run_thread(500 * kMs);
  off.value = 1;
  CHECK(w.vm.ops->control(w.vm.self, &off) == HPROF_OK);
  w.vm.run_thread(10 * kMs);
  CHECK(w.rows() == Rows{{"App.park", 3}});
  w.vm.mock.now_ns += 500 * kMs;
  w.vm.ops->reset(w.vm.self);
  w.vm.run_thread(10 * kMs);
  CHECK(w.rows() == Rows{{"App.park", 1}});
  w.vm.destroy();
  CHECK(w.vm.mock.memory_used == 0);
}

TEST_CASE("clock=wall: depth=0 has the state alone") {
  Walled w;
  w.vm.mock.settings.depth = 0;
  w.thread(1, "f");
  w.start();
  w.vm.run_thread(10 * kMs);
  CHECK(w.rows() == Rows{{"JVM.depth_zero", 1}});
  CHECK(w.trace(0).at(1).find("STATE.parked") == 0);
}

TEST_CASE("clock=wall: a thread without Java frames is a row, one that has not begun is none") {
  Walled w;
  w.thread(1, "f")->stack.clear();
  w.thread(2, "g")->state = 0;
  w.start();
  w.vm.run_thread(10 * kMs);
  CHECK(w.rows() == Rows{{"JVM.no_java_frame", 1}});
}

TEST_CASE("clock=wall: a thread that is ending may have no stack") {
  Walled w;
  w.thread(1, "f")->is_ending = true;
  w.start();
  w.vm.run_thread(10 * kMs);
  CHECK(w.vm.list_calls == 1);
  CHECK(w.rows() == Rows{{"JVM.no_samples", 0}});
}

TEST_CASE("clock=wall: the engine that sends signals is refused") {
  SampledVm vm;
  vm.create({{"clock", "wall"}, {"sampler", "signal"}});
  CHECK(vm.self == nullptr);
}
