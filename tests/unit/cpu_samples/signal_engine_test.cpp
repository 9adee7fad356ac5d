#include <algorithm>
#include <doctest/doctest.h>

#include "tests/unit/cpu_samples/sampled_vm.h"

using namespace hprof;
using Rows = std::map<std::string, uint64_t>;

TEST_CASE("ticks of timed threads become rows, most first, with notes after the table") {
  SampledVm vm;
  void* f = vm.method("App", "f");
  void* g = vm.method("App", "g");
  vm.mock.add_app_thread(1, 101);  // there before the start
  vm.create({{"interval", "0.5"}});
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.start_thread(2, 102);
  CHECK(vm.timers.size() == 2);
  CHECK(vm.timers[102]->interval_ns == 500000);
  vm.stack = {{3, f}, {9, g}};
  vm.tick(101);
  vm.stack = {{1, g}};
  vm.tick(102, 3);
  vm.mock.process_cpu_ns = 10000000;
  vm.mock.now_ns += 1500000000;
  vm.report();
  CHECK(vm.rows() == Rows{{"App.f", 1}, {"App.g", 3}});
  CHECK(vm.total() == 4);
  REQUIRE(vm.table() != nullptr);
  const hprof_rec_table& table = *vm.table();
  const auto rows = rows_of<hprof_cpu_row>(table);
  CHECK(vm.mock.trace_text(static_cast<hprof_trace_serial>(rows[0].trace)) ==
        std::vector<std::string>{"App.g(Unknown Source:1)"});
  CHECK(vm.mock.trace_text(static_cast<hprof_trace_serial>(rows[1].trace)) ==
        std::vector<std::string>{"App.f(Unknown Source:3)", "App.g(Unknown Source:9)"});
  CHECK(table.created_ms == vm.mock.wall_clock_ms);
  CHECK(table.order == HPROF_CPU_COUNT);
  CHECK(table.period == 500000);
  CHECK(table.period_column == HPROF_CPU_TIME);
  CHECK(rows[0].time_ns == 1500000);
  CHECK(table.totals[HPROF_CPU_TIME].u == 2000000);
  CHECK(vm.has_note("interval 0.5 ms, 4 samples in 1.5 s"));
  CHECK(vm.has_note("the Java threads in the table 0.002 s; the rest, 0.008 s"));
  CHECK(vm.has_note("timers fire no oftener; a share of 50% stands for 14.64% to 85.36%"));
  CHECK_FALSE(vm.has_note("without a stack"));
}

TEST_CASE("a note has the CPU time of the VM's own threads by kind") {
  constexpr uint64_t kMs = 1'000'000;
  SampledVm vm;
  vm.native_threads = {
      {201, "C2 CompilerThre"}, {202, "GC Thread#0"}, {203, "G1 Conc#0"}, {204, "main"}, {205, "VM Thread"}};
  for (const auto& thread : vm.native_threads) vm.mock.thread_cpu_ns[thread.first] = 70 * kMs;
  vm.create();
  const auto says = [&](const std::string& words) {
    vm.report();
    CHECK(vm.has_note("the Java threads in the table 0 s" + words));
  };
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.mock.process_cpu_ns = 10 * kMs;
  says("; the rest, 0.01 s, went to the VM's own threads");
  vm.mock.thread_cpu_ns[201] += 4 * kMs;
  vm.mock.thread_cpu_ns[202] += kMs;
  vm.mock.thread_cpu_ns[203] += kMs;
  vm.mock.thread_cpu_ns[204] += kMs;
  const std::string so_far = ", the C2 compiler 0.004 s, garbage collection 0.002 s";
  says(so_far + "; the rest, 0.004 s, went to other threads");
  vm.ops->stop(vm.self);
  vm.mock.thread_cpu_ns[201] += kMs;
  says(so_far);
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.native_threads[206] = "C1 Comp..hread0";
  vm.mock.thread_cpu_ns[206] = kMs;
  says(", the C2 compiler 0.004 s, the C1 compiler 0.001 s, garbage collection 0.002 s");
  // The drain thread reads each second: a thread that has ended keeps its time.
  vm.mock.thread_cpu_ns[206] += kMs;
  vm.mock.now_ns += 2'000 * kMs;
  vm.mock.run_thread(0, 1);
  vm.native_threads.erase(206);
  says(", the C2 compiler 0.004 s, the C1 compiler 0.002 s, garbage collection 0.002 s");
  vm.ops->reset(vm.self);
  vm.mock.process_cpu_ns += kMs;
  says("; the rest");
}

TEST_CASE("several reports keep counting, reset forgets") {
  SampledVm vm;
  vm.stack = {{1, vm.method("App", "f")}};
  vm.mock.add_app_thread(1, 101);
  vm.create();
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.tick(101);
  vm.report();
  CHECK(vm.total() == 1);
  vm.tick(101);
  vm.report();
  CHECK(vm.total() == 2);
  vm.ops->reset(vm.self);
  vm.tick(101);
  vm.report();
  CHECK(vm.total() == 1);
}

TEST_CASE("stop takes every timer and the handler away, start sets them up again and goes on counting") {
  SampledVm vm;
  vm.stack = {{1, vm.method("App", "f")}};
  vm.mock.add_app_thread(1, 101);
  vm.create();
  for (uint64_t round = 1; round <= 3; round++) {
    REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
    CHECK(vm.installed);
    CHECK(vm.mock.agent_threads.size() == 1);
    vm.tick(101);
    vm.ops->stop(vm.self);
    CHECK_FALSE(vm.installed);
    CHECK(vm.timers.empty());
    CHECK(vm.mock.agent_threads.empty());
    vm.start_thread(50, 150);
    CHECK(vm.timers.empty());
    vm.mock.app_threads.pop_back();
    vm.report();
    CHECK(vm.total() == round);
  }
  vm.destroy();
  CHECK(vm.mock.memory_used == 0);
}

TEST_CASE("the drain thread is woken before the queue is full; what finds no room is a loss") {
  SampledVm vm;
  vm.stack = {{1, vm.method("App", "f")}};
  vm.mock.add_app_thread(1, 101);
  vm.create();
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  constexpr uint64_t kTicks = 10 * samples::SampleQueue::kMostSlots;
  uint64_t lost = 0;
  for (uint64_t i = 0; i < kTicks; i++) {
    vm.tick(101, 2);
    if (vm.mock.agent_threads[0]->woken == 1 && i < kTicks / 2) vm.mock.run_thread(0, 1);
    lost = vm.mock.loss("CPU samples: the sample buffer was full (interval=)");
    if (vm.mock.agent_threads[0]->woken == 0) REQUIRE(lost == 0);
  }
  vm.report();
  CHECK(lost > 0);
  CHECK(vm.total() + lost == 2 * kTicks);
}

TEST_CASE("the agent's own threads and virtual threads get no timer") {
  SampledVm vm;
  vm.create();
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.start_thread(1, 101, HPROF_THREAD_AGENT);
  vm.start_thread(2, 0, HPROF_THREAD_VIRTUAL);
  CHECK(vm.timers.empty());
  CHECK(vm.mock.loss("sampled threads: no memory for them (max-memory=)") == 0);
}

TEST_CASE("a thread that ends loses its timer, a late tick of it is nobody's") {
  SampledVm vm;
  vm.stack = {{1, vm.method("App", "f")}};
  vm.create();
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  hprof_thread* thread = vm.start_thread(1, 101);
  void* handle = vm.timers[101]->argument;
  vm.tick_late(handle);
  vm.ops->handlers->thread_end(vm.self, vm.jni(), thread);
  CHECK(vm.timers.empty());
  vm.tick_late(handle);
  vm.start_thread(257, 102);  // takes over the state
  vm.tick_late(handle);
  vm.report();
  CHECK(vm.total() == 1);
}

TEST_CASE(
    "a tick weighs what the thread is due for by its CPU clock, and its end tells what no tick came for") {
  constexpr uint64_t kInterval = 10'000'000;
  SampledVm vm;
  vm.stack = {{1, vm.method("App", "f")}};
  vm.create();
  vm.mock.thread_cpu_ns[101] = 5 * kInterval / 3;  // used before: not ours
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  hprof_thread* thread = vm.start_thread(1, 101);
  CHECK(vm.timers[101]->interval_ns < 2 * kInterval);
  for (int i = 0; i < 100; i++) {
    // The kernel is late by up to a tick.
    vm.mock.thread_cpu_ns[101] += vm.timers[101]->interval_ns + static_cast<uint64_t>(i % 5) * 1'000'000;
    vm.tick(101, 77);
  }
  const uint64_t used = vm.mock.thread_cpu_ns[101] - 5 * kInterval / 3;
  vm.report();
  // Intervals begin at random: the time used lies in as many as it has, and parts of one at either end.
  CHECK(vm.rows()["App.f"] >= used / kInterval - 1);
  CHECK(vm.rows()["App.f"] <= used / kInterval + 2);
  vm.mock.thread_cpu_ns[101] += 50 * kInterval;
  vm.mock.now_ns += 50 * kInterval;
  vm.ops->handlers->thread_end(vm.self, vm.jni(), thread);
  vm.report();
  CHECK(vm.rows()["JVM.not_seen_running"] >= 49);
  CHECK(vm.rows()["JVM.not_seen_running"] <= 51);
  CHECK(vm.total() >= used / kInterval + 49);
  CHECK(vm.total() <= used / kInterval + 52);
}

TEST_CASE("a CPU clock that jumps adds no samples beyond the elapsed time") {
  constexpr uint64_t kInterval = 10'000'000, kDay = 86'400'000'000'000;
  SampledVm vm;
  vm.stack = {{1, vm.method("App", "f")}};
  vm.create();
  vm.mock.thread_cpu_ns[101] = 5 * kInterval;
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  hprof_thread* thread = vm.start_thread(1, 101);
  vm.mock.now_ns += 50 * kInterval;
  vm.mock.thread_cpu_ns[101] += kDay;
  vm.tick(101);
  vm.mock.thread_cpu_ns[101] += kDay;
  vm.ops->handlers->thread_end(vm.self, vm.jni(), thread);
  vm.report();
  // 100 ms more are for clocks that move in steps.
  CHECK(vm.rows()["App.f"] >= 50);
  CHECK(vm.rows()["App.f"] <= 62);
  CHECK(vm.rows()["JVM.not_seen_running"] <= 12);
}

namespace {

// A thread, 101, that is always on a processor, and whose work goes in rounds as long as the kernel's tick.
struct InStep {
  static constexpr uint64_t kTick = 4'000'000;
  SampledVm vm;
  uint64_t cpu = 0;
  std::vector<hprof_async_frame> parts[3] = {
      {{1, vm.method("App", "half")}}, {{1, vm.method("App", "third")}}, {{1, vm.method("App", "rest")}}};

  void start(bool has_moments, const char* interval) {
    vm.tick_ns = has_moments ? kTick : 0;
    vm.create({{"interval", interval}});
    vm.mock.thread_cpu_ns[101] = cpu;
    REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
    vm.start_thread(1, 101);
  }
  // Runs to the next signal. False: it is a tick.
  bool step() {
    hprof_cpu_timer& timer = *vm.timers.at(101);
    const uint64_t tick = (std::max(timer.ticks_at, cpu + 1) + kTick - 1) / kTick * kTick;
    const bool is_moment = timer.moment_at != 0 && timer.moment_at < tick;
    cpu = is_moment ? timer.moment_at : tick;
    (is_moment ? timer.moment_at : timer.ticks_at) = is_moment ? 0 : cpu + timer.interval_ns;
    vm.mock.now_ns += cpu - vm.mock.thread_cpu_ns[101];
    vm.mock.thread_cpu_ns[101] = cpu;
    const uint64_t at = cpu % kTick * 10 / kTick;
    vm.stack = parts[at < 5 ? 0 : at < 8 ? 1 : 2];
    vm.tick(101);
    return is_moment;
  }
  // Samples of a part in per cent of all.
  double share(const char* part) {
    return 100.0 * static_cast<double>(vm.rows()[part]) / static_cast<double>(vm.total());
  }
};

}  // namespace

TEST_CASE("the shares of a program in step with the kernel's tick are the true ones") {
  for (const char* interval : {"1", "3", "20"}) {
    InStep run;
    run.start(true, interval);
    for (int i = 0; i < 9000; i++) {
      run.step();
      if (i % 100 == 0) run.vm.mock.run_thread(0, 1);
    }
    run.vm.report();
    CAPTURE(interval);
    CHECK(run.vm.total() > 2500);
    CHECK(run.share("App.half") == doctest::Approx(50).epsilon(0.08));
    CHECK(run.share("App.third") == doctest::Approx(30).epsilon(0.12));
    CHECK(run.share("App.rest") == doctest::Approx(20).epsilon(0.16));
    CHECK_FALSE(run.vm.has_note("timers fire no oftener"));
  }
}

TEST_CASE("without timers of moments samples are taken at ticks, in step with the program") {
  InStep run;
  SUBCASE("the machine has none") { run.start(false, "1"); }
  SUBCASE("threads get none") {
    run.vm.on_timer = [&] { run.vm.moments_fail = true; };
    run.start(true, "1");
    CHECK(run.vm.mock.loss(
              "timers between kernel ticks: the system refused a second timer for a thread (ulimit -i)") ==
          1);
  }
  for (int i = 0; i < 500; i++) CHECK_FALSE(run.step());
  run.vm.report();
  CHECK(run.share("App.half") == 100);
}

TEST_CASE("a thread whose system call was ended is sampled at ticks for a second of its CPU time") {
  constexpr uint64_t kSecond = 1'000'000'000;
  InStep run;
  run.start(true, "1");
  while (!run.step()) {
  }
  run.vm.call = HPROF_CALL_RESTARTS;
  run.step();
  run.vm.call = HPROF_CALL_NONE;
  CHECK_FALSE(run.step());  // the thread has stopped: nothing until it runs at a tick
  CHECK(run.step());
  run.vm.call = HPROF_CALL_ENDED;
  run.step();
  const uint64_t ended = run.cpu;
  run.vm.call = HPROF_CALL_NONE;
  while (!run.step()) {
  }
  CHECK(run.cpu >= ended + kSecond);
  CHECK(run.cpu <= ended + kSecond + 3 * InStep::kTick);
  run.vm.report();
  CHECK(run.vm.has_note("1 wait of the program in a system call returned early (EINTR)"));
  run.vm.ops->reset(run.vm.self);
  run.vm.report();
  CHECK_FALSE(run.vm.has_note("EINTR"));
}

TEST_CASE("while a timer is made, its thread may end, be switched off, or everything stop") {
  SampledVm vm;
  vm.stack = {{1, vm.method("App", "f")}};
  vm.create();
  vm.mock.on_pause = [](uint64_t) { REQUIRE_MESSAGE(false, "a lock is waited for"); };
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  hprof_thread* thread = vm.mock.add_app_thread(1, 101);
  hprof_control off = {sizeof(hprof_control), HPROF_CONTROL_CPU_SAMPLING, 0, 0};
  hprof_control on = {sizeof(hprof_control), HPROF_CONTROL_CPU_SAMPLING, 1, 0};
  SUBCASE("end") {
    vm.on_timer = [&] { vm.ops->handlers->thread_end(vm.self, vm.jni(), thread); };
  }
  SUBCASE("be switched off") {
    vm.on_timer = [&] { CHECK(vm.ops->control(vm.self, &off) == HPROF_OK); };
  }
  SUBCASE("everything stop") {
    vm.on_timer = [&] { vm.ops->stop(vm.self); };
  }
  vm.ops->handlers->thread_start(vm.self, vm.jni(), thread);
  CHECK(vm.timers.empty());
  // Later it is timed like any other.
  vm.on_timer = nullptr;
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.ops->handlers->thread_start(vm.self, vm.jni(), thread);
  CHECK(vm.ops->control(vm.self, &on) == HPROF_OK);
  CHECK(vm.timers.size() == 1);
  vm.report();
}

namespace {

constexpr uint64_t kMs = 1'000'000;

// One round of the drain thread, in which the threads have used so much CPU time.
void drain_round(SampledVm& vm, uint64_t used_ns) {
  for (auto& clock : vm.mock.thread_cpu_ns) clock.second += used_ns;
  vm.mock.process_cpu_ns += used_ns;
  vm.mock.now_ns += 100 * kMs;
  vm.mock.run_thread(0, 5);
}

// A round of the jvmti engine beside the signal engine.
void sample_by_jvmti(SampledVm& vm) { vm.run_thread(0, 1); }

struct TwoThreads {
  SampledVm vm;
  TwoThreads() {
    for (hprof_thread_serial serial : {1u, 2u}) {
      vm.mock.thread_cpu_ns[100 + serial] = 50 * kMs;
      vm.add_thread(serial, 100 + serial, "App.sampled");
    }
    vm.stack = {{1, vm.method("App", "ticked")}};
    vm.create();
  }
};

}  // namespace

TEST_CASE("a thread that ended before it got a timer is no refusal of the system") {
  TwoThreads t;
  SampledVm& vm = t.vm;
  vm.timer_error = HPROF_FAILED;
  vm.on_timer = [&] { vm.timers_fail = true; };  // from the second one on
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  drain_round(vm, 0);
  CHECK(vm.timers.size() == 1);
  CHECK(vm.mock.agent_threads.size() == 1);
  CHECK(vm.mock.messages.empty());
  vm.ops->stop(vm.self);
}

TEST_CASE("threads that get no timer are sampled by the jvmti engine, the others by signals") {
  TwoThreads t;
  SampledVm& vm = t.vm;
  SUBCASE("the system refuses it") {
    vm.on_timer = [&] { vm.timers_fail = true; };  // from the second one on
  }
  SUBCASE("its id is not known") { vm.mock.app_threads[1].thread.os_id = 0; }
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  CHECK(vm.timers.size() == 1);
  drain_round(vm, 0);
  REQUIRE(vm.mock.agent_threads.size() == 2);
  CHECK(vm.mock.messages.size() == 1);
  if (vm.timers_fail) {
    sample_by_jvmti(vm);
    CHECK(vm.mock.said("refuses CPU timers for some threads"));
    for (int i = 0; i < 10; i++) {
      drain_round(vm, 20 * kMs);
      sample_by_jvmti(vm);
      vm.tick(101);
    }
    vm.report();
    CHECK(vm.rows()["App.sampled"] >= 19);
    CHECK(vm.rows()["App.sampled"] <= 21);
    CHECK(vm.rows()["App.ticked"] >= 19);
    CHECK(vm.rows()["App.ticked"] <= 21);
    CHECK(vm.has_note("refuses CPU timers for some threads"));
    CHECK_FALSE(vm.has_note("timers fire no oftener"));
    // Its last CPU time counts, too.
    vm.mock.thread_cpu_ns[102] += 30 * kMs;
    vm.ops->handlers->thread_end(vm.self, vm.jni(), &vm.mock.app_threads[1].thread);
    vm.report();
    CHECK(vm.rows()["JVM.not_seen_running"] >= 2);
  }
  vm.ops->stop(vm.self);
  CHECK(vm.mock.agent_threads.empty());
  CHECK(vm.timers.empty());
  vm.destroy();
  CHECK(vm.mock.memory_used == 0);
}

TEST_CASE("when signals stop coming while threads are overdue, the jvmti engine takes over") {
  TwoThreads t;
  SampledVm& vm = t.vm;
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  drain_round(vm, 200 * kMs);
  vm.tick(101);
  SUBCASE("another handler has the signal") {
    vm.knows_its_signals = false;
    drain_round(vm, 200 * kMs);
    CHECK(vm.timers.size() == 2);
    for (int i = 0; i < 3; i++) drain_round(vm, 200 * kMs);
    CHECK(vm.mock.said("another handler has taken SIGPROF"));
  }
  SUBCASE("the threads do not get them") {
    for (int i = 0; i < 20; i++) drain_round(vm, 200 * kMs);
    CHECK(vm.timers.size() == 2);
    for (int i = 0; i < 30; i++) drain_round(vm, 200 * kMs);
    CHECK(vm.mock.said("do not reach the threads that run"));
  }
  CHECK(vm.timers.empty());
  CHECK(vm.mock.messages.size() == 1);
  vm.start_thread(3, 103);
  CHECK(vm.timers.empty());
  REQUIRE(vm.mock.agent_threads.size() == 2);
  sample_by_jvmti(vm);
  drain_round(vm, 50 * kMs);
  sample_by_jvmti(vm);
  vm.report();
  CHECK(vm.rows()["App.sampled"] >= 8);
  CHECK(vm.has_note("; sampled with JVMTI instead"));
}

TEST_CASE("signals that do not come mean nothing while no thread is overdue, or only for a while") {
  TwoThreads t;
  SampledVm& vm = t.vm;
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  // The VM's own threads use CPU time.
  for (int i = 0; i < 100; i++) {
    vm.mock.process_cpu_ns += 100 * kMs;
    drain_round(vm, 0);
  }
  CHECK(vm.timers.size() == 2);
  for (int i = 0; i < 100; i++) {
    for (int silent = 0; silent < 10; silent++) drain_round(vm, 100 * kMs);
    vm.tick(101);
    vm.tick(102);
  }
  CHECK(vm.timers.size() == 2);
  CHECK(vm.mock.messages.empty());
}

TEST_CASE("a thread that blocks the signal is served by the jvmti engine, the others keep their timers") {
  TwoThreads t;
  SampledVm& vm = t.vm;
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.blocked = {101, 102};
  for (int i = 0; i < 12; i++) {
    vm.tick(101);  // blocks it for a moment only, and is not overdue
    drain_round(vm, 40 * kMs);
  }
  CHECK(vm.timers.size() == 1);
  CHECK(vm.timers.count(101) == 1);
  CHECK(vm.mock.said("some threads block SIGPROF"));
  CHECK(vm.mock.messages.size() == 1);
  sample_by_jvmti(vm);
  drain_round(vm, 50 * kMs);
  sample_by_jvmti(vm);
  vm.report();
  CHECK(vm.rows()["App.sampled"] >= 4);
  CHECK(vm.rows()["JVM.not_seen_running"] >= 20);
  CHECK(vm.has_note("some threads block SIGPROF"));
}

TEST_CASE("samples are events of when they were taken, if the output takes any") {
  for (const uint32_t takes_events : {0, 1}) {
    SampledVm vm;
    vm.mock.settings.events = takes_events;
    void* f = vm.method("App", "f");
    vm.mock.add_app_thread(1, 101);
    vm.create({{"interval", "0.5"}});
    REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
    vm.stack = {{3, f}};
    vm.mock.now_ns = 2000000000;
    vm.tick(101);
    vm.mock.now_ns = 2000500000;
    vm.tick(101, 3);
    vm.mock.now_ns = 3000000000;
    vm.report();
    CHECK(vm.total() == 4);
    REQUIRE(vm.mock.events.size() == 2 * takes_events);
    if (takes_events == 0) continue;
    std::vector<hprof_cpu_sample_event> events;
    for (const MockRecord& event : vm.mock.events) {
      REQUIRE(is_table(event, HPROF_TABLE_CPU_SAMPLE_EVENTS));
      const auto& table = event.as<hprof_rec_table>();
      CHECK(table.flags == HPROF_TABLE_EVENTS);
      CHECK(table.period == 500000);
      CHECK(std::string(hprof_column_at(table.schema, table.period_column)->name) == "time");
      events.push_back(rows_of<hprof_cpu_sample_event>(table).at(0));
    }
    CHECK(events[0].at_ns == 2000000000);
    CHECK(events[1].at_ns == 2000500000);
    CHECK(events[1].thread == 1);
    CHECK(events[1].state == HPROF_STATE_RUNNABLE);
    CHECK(vm.mock.trace_text(static_cast<hprof_trace_serial>(events[1].trace))[0].find("App.f") == 0);
    CHECK(events[1].count == 3);
    CHECK(events[1].time_ns == 1500000);
  }
}
