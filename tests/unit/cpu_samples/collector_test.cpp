// The collector, whatever its engine.
#include <doctest/doctest.h>

#include "tests/unit/cpu_samples/sampled_vm.h"

using namespace hprof;
using Rows = std::map<std::string, uint64_t>;

TEST_CASE("a report without samples has one row of count 0, never a trace without frames") {
  SampledVm vm;
  vm.create();
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.report(0.5);
  CHECK(vm.rows() == Rows{{"JVM.no_samples", 0}});
  CHECK(vm.total() == 0);
}

TEST_CASE("depth=0 keeps the count under a synthetic frame") {
  SampledVm vm;
  vm.mock.settings.depth = 0;
  vm.stack = {{1, vm.method("App", "f")}};
  vm.mock.add_app_thread(1, 101);
  vm.create();
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.tick(101, 4);
  vm.report();
  CHECK(vm.rows() == Rows{{"JVM.depth_zero", 4}});
}

TEST_CASE("depth changes while running, up and down, and the counts stay") {
  SampledVm vm;
  void* f = vm.method("App", "f");
  vm.mock.settings.depth = 1;
  vm.mock.add_app_thread(1, 101);
  vm.create();
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  for (int i = 0; i < 8; i++) vm.stack.push_back({i, f});
  auto deepest = [&] {
    vm.report();
    size_t most = 0;
    REQUIRE(vm.table() != nullptr);
    for (const hprof_cpu_row& row : rows_of<hprof_cpu_row>(*vm.table())) {
      most = std::max(most, vm.mock.trace_text(static_cast<hprof_trace_serial>(row.trace)).size());
    }
    return most;
  };
  vm.tick(101);
  CHECK(deepest() == 1);
  for (uint32_t depth : {3u, 8u, 2u}) {
    vm.mock.settings.depth = depth;
    hprof_control control = {sizeof(hprof_control), HPROF_CONTROL_DEPTH, depth, 0};
    CHECK(vm.ops->control(vm.self, &control) == HPROF_OK);
    vm.ops->reset(vm.self);
    vm.tick(101);
    CHECK(deepest() == depth);
  }
  hprof_control other = {sizeof(hprof_control), HPROF_CONTROL_ALLOC_TRACES, 1, 0};
  CHECK(vm.ops->control(vm.self, &other) == HPROF_UNSUPPORTED);
}

TEST_CASE("sampling is switched off and on for all threads or for one") {
  SampledVm vm;
  vm.stack = {{1, vm.method("App", "f")}};
  hprof_thread_serial first = vm.mock.add_thread("a", "main", "", 0xa1);
  hprof_thread_serial second = vm.mock.add_thread("b", "main", "", 0xb2);
  vm.mock.add_app_thread(first, 101);
  vm.mock.add_app_thread(second, 102);
  vm.create();
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  auto sampling = [&](int64_t on, hprof_object_id object) {
    hprof_control control = {sizeof(hprof_control), HPROF_CONTROL_CPU_SAMPLING, on, object};
    return vm.ops->control(vm.self, &control);
  };
  CHECK(sampling(0, 0xb2) == HPROF_OK);
  CHECK(vm.timers.count(101) == 1);
  CHECK(vm.timers.count(102) == 0);
  CHECK(sampling(0, 0) == HPROF_OK);
  vm.start_thread(9, 109);
  CHECK(vm.timers.empty());
  CHECK(sampling(1, 0xa1) == HPROF_OK);
  CHECK(vm.timers.size() == 1);
  CHECK(vm.tick(101));
  CHECK(sampling(1, 0) == HPROF_OK);
  CHECK(vm.timers.size() == 3);
  CHECK(sampling(0, 0xdead) == HPROF_FAILED);
}

TEST_CASE("where the signal engine cannot run the jvmti engine does, and says so unless that is usual") {
  SampledVm vm;
  std::string why, sampler = "auto";
  SUBCASE("usual on this VM") { vm.has_async_get_call_trace = false; }
  SUBCASE("usual on this platform") { vm.mock.set_service(HPROF_SERVICE_SAMPLING, nullptr); }
  SUBCASE("asked for") {
    vm.has_async_get_call_trace = false;
    sampler = "signal";
    why = "this VM has no AsyncGetCallTrace, or it is switched off";
  }
  SUBCASE("refused") {
    vm.timers_fail = true;
    why = "the system refuses CPU timers (timer_create)";
  }
  SUBCASE("not recognised") {
    vm.knows_its_signals = false;
    why = "signals of the agent's own do not come, or are not recognised (an emulator?)";
  }
  SUBCASE("frames are not found") {
    vm.most_frames = 0;
    vm.mock.settings.java_version = 8;
    why = "AsyncGetCallTrace finds no frames with -XX:MaxJavaStackTraceDepth of 0 or less";
  }
  vm.create({{"sampler", sampler}});
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  CHECK(vm.mock.messages.size() == (why.empty() ? 0 : 1));
  CHECK(vm.mock.said(why + "; sampling with JVMTI (sampler=jvmti) instead") == !why.empty());
  CHECK_FALSE(vm.installed);
  vm.report();
  CHECK(vm.has_note("engine jvmti"));
  CHECK(vm.has_note("cpu=samples: " + why + "; sampled with JVMTI instead") == !why.empty());
}

TEST_CASE("a recording of JFR that may sample CPU time is warned of") {
  SampledVm vm;
  bool warned = true;
  vm.mock.settings.java_version = 25;
  SUBCASE("asked for") { vm.flight_recording = "filename=x.jfr,jdk.CPUTimeSample#enabled=true"; }
  SUBCASE("settings that nobody knows") { vm.flight_recording = "settings=/tmp/cpu.jfc"; }
  SUBCASE("the JDK's settings have none") {
    vm.flight_recording = "settings=profile";
    warned = false;
  }
  SUBCASE("an older JDK") {
    vm.flight_recording = "settings=/tmp/cpu.jfc";
    vm.mock.settings.java_version = 21;
    warned = false;
  }
  vm.create();
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  CHECK(vm.installed);
  CHECK(vm.mock.said("JFR records no jdk.CPUTimeSample") == warned);
}

TEST_CASE("with neither engine the start fails with one line, and reports still have their shape") {
  SampledVm vm;
  vm.has_async_get_call_trace = false;
  vm.has_jvmti = false;
  vm.create();
  CHECK(vm.ops->start(vm.self) != HPROF_OK);
  CHECK(vm.mock.messages.size() == 1);
  vm.report();
  CHECK(vm.rows() == Rows{{"JVM.no_samples", 0}});
}

TEST_CASE("without memory the start fails, or takes the smaller engine, and everything is given back") {
  uint32_t failed = 0, smaller = 0;
  for (uint64_t limit = 0;; limit += 4096) {
    REQUIRE(limit < 64 * 1024 * 1024);
    SampledVm vm;
    vm.create();
    REQUIRE(vm.self != nullptr);
    vm.mock.memory_limit = vm.mock.memory_used + limit;
    const bool started = vm.ops->start(vm.self) == HPROF_OK;
    const bool whole = vm.installed;
    CHECK(vm.mock.agent_threads.size() == (started ? 1 : 0));
    vm.destroy();
    CHECK(vm.mock.memory_used == 0);
    CHECK(vm.mock.agent_threads.empty());
    CHECK_FALSE(vm.installed);
    failed += started ? 0 : 1;
    smaller += started && !whole ? 1 : 0;
    if (whole) break;
  }
  CHECK(failed > 0);
  CHECK(smaller > 0);
}

TEST_CASE("an output that is gone ends the report") {
  SampledVm vm;
  vm.create();
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.mock.write_status = HPROF_ABORTED;
  hprof_report report = {sizeof(hprof_report), HPROF_REPORT_EXIT, 0, 0, 0, nullptr};
  CHECK(vm.ops->report(vm.self, &report) == HPROF_ABORTED);
}

TEST_CASE("with thread=y notes have the nids of the threads that live") {
  for (const bool threads : {false, true}) {
    SampledVm vm;
    vm.mock.settings.thread_in_traces = threads ? 1 : 0;
    for (uint32_t serial = 1; serial <= 100; serial++) vm.mock.add_app_thread(serial, 4000 + serial);
    vm.mock.add_app_thread(101, 0, nullptr, HPROF_THREAD_VIRTUAL);
    vm.create();
    REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
    vm.report();
    CHECK(vm.has_note("cpu=samples: threads, each with its nid: ") == threads);
    for (const char* pair : {"200001 4001", "200050 4050", "200100 4100"})
      CHECK(vm.has_note(pair) == threads);
    CHECK_FALSE(vm.has_note("200101"));
  }
}
