// The stacks of the signal engine.
#include <doctest/doctest.h>

#include "tests/unit/cpu_samples/sampled_vm.h"

using namespace hprof;
using Rows = std::map<std::string, uint64_t>;

TEST_CASE("walks that fail stay in the total, by reason") {
  SampledVm vm;
  void* f = vm.method("App", "f");
  vm.mock.add_app_thread(1, 101);
  vm.create();
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.walk_code = -2;
  vm.tick(101, 2);
  vm.walk_code = -6;
  vm.tick(101);
  vm.stack = {{1, f}};
  vm.tick(101);
  vm.walk_faults = true;
  vm.tick(101);
  vm.walk_faults = false;
  vm.attached = false;
  vm.tick(101);
  vm.report();
  CHECK(vm.rows() == Rows{{"App.f", 1},
                          {"JVM.gc_active", 2},
                          {"JVM.unwalkable_java_code", 1},
                          {"JVM.walk_fault", 1},
                          {"JVM.not_a_java_thread", 1}});
  CHECK(vm.total() == 6);
  CHECK(vm.has_note("5 samples without a stack"));
  CHECK(vm.has_note(" gc_active 2 unwalkable_java_code 1 walk_fault 1 not_a_java_thread 1"));
}

namespace {

// Interrupted in the entry code of f, whose caller is g: the walk finds nothing there, but g's frames at its
// pc.
struct InEntryCode {
  SampledVm vm;
  void* f = vm.method("App", "f");
  void* g = vm.method("App", "g");
  uintptr_t machine_stack[3] = {};

  InEntryCode() {
    vm.mock.add_app_thread(1, 101);
    vm.walk_code = -5;
    vm.knows_registers = true;
    vm.registers = {sizeof vm.registers, 0, 0x5010, reinterpret_cast<uintptr_t>(machine_stack), 0x7777, 0};
    vm.stacks_by_pc[0x9000] = {{4, g}};
  }
  void start() {
    vm.create();
    REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
    vm.compiled[0x5000] = {0x5100, f};
  }
  std::vector<std::string> only_trace() {
    vm.report();
    REQUIRE(vm.table() != nullptr);
    const hprof_rec_table& table = *vm.table();
    const auto rows = rows_of<hprof_cpu_row>(table);
    CHECK(table.row_count == 1);
    std::vector<std::string> methods;
    for (auto& line : vm.mock.trace_text(static_cast<hprof_trace_serial>(rows[0].trace)))
      methods.push_back(line.substr(0, line.find('(')));
    return methods;
  }
};

using Methods = std::vector<std::string>;

}  // namespace

TEST_CASE("in entry code the walk starts at the caller, and the address names the method on top") {
  InEntryCode t;
  t.start();
  SUBCASE("the return address is on top of the stack") { t.machine_stack[0] = 0x9000; }
  SUBCASE("it is below the saved frame pointer") { t.machine_stack[1] = 0x9000; }
  SUBCASE("it is in the link register") { t.vm.registers.link = 0x9000; }
  t.vm.tick(101);
  CHECK(t.only_trace() == Methods{"App.f", "App.g"});
  CHECK_FALSE(t.vm.has_note("without a stack"));
  CHECK(t.vm.registers.pc == 0x5010);
  CHECK(t.vm.registers.sp == reinterpret_cast<uintptr_t>(t.machine_stack));
  CHECK(t.vm.registers.fp == 0x7777);
}

TEST_CASE("when no caller is found the method alone is the stack") {
  InEntryCode t;
  t.start();
  t.vm.tick(101);
  CHECK(t.only_trace() == Methods{"App.f"});
  CHECK(t.vm.registers.pc == 0x5010);
}

TEST_CASE("code of the VM's own is charged to the Java method that called it") {
  InEntryCode t;
  t.start();
  t.vm.registers.pc = 0x6000;
  t.machine_stack[0] = 0x9000;
  t.vm.tick(101);
  CHECK(t.only_trace() == Methods{"App.g"});
}

TEST_CASE("code of the VM's own without a Java caller keeps its reason") {
  InEntryCode t;
  t.start();
  t.vm.registers.pc = 0x6000;
  t.vm.tick(101);
  CHECK(t.only_trace() == Methods{"JVM.unknown_java_code"});
}

TEST_CASE("faults while walking from the caller leave the registers as they were") {
  InEntryCode t;
  t.start();
  t.machine_stack[0] = 0x9000;
  t.vm.walk_faults_after = 1;
  t.vm.tick(101);
  CHECK(t.only_trace() == Methods{"App.f"});
  CHECK(t.vm.registers.pc == 0x5010);
  CHECK(t.vm.registers.sp == reinterpret_cast<uintptr_t>(t.machine_stack));
}

TEST_CASE("machines without known registers do without") {
  InEntryCode t;
  t.vm.knows_registers = false;
  t.start();
  t.vm.tick(101);
  CHECK(t.only_trace() == Methods{"JVM.unknown_java_code"});
}

TEST_CASE("the method on top counts as a frame of the depth") {
  InEntryCode t;
  t.vm.mock.settings.depth = 2;
  t.vm.stacks_by_pc[0x9000] = {{4, t.g}, {4, t.g}, {4, t.g}};
  t.machine_stack[0] = 0x9000;
  t.start();
  t.vm.tick(101);
  CHECK(t.only_trace() == Methods{"App.f", "App.g"});
}

TEST_CASE("native methods and unknown bytecode indexes keep their frames") {
  SampledVm vm;
  vm.mock.add_app_thread(1, 101);
  vm.create();
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.stack = {{-3, vm.method("App", "read")}, {7, nullptr}};
  vm.tick(101);
  vm.report();
  REQUIRE(vm.table() != nullptr);
  const hprof_rec_table& table = *vm.table();
  const auto rows = rows_of<hprof_cpu_row>(table);
  auto trace = vm.mock.trace_text(static_cast<hprof_trace_serial>(rows[0].trace));
  REQUIRE(trace.size() == 2);
  CHECK(trace[0] == "App.read(Unknown Source:-3)");
  CHECK(trace[1] == "JVM.unknown_method(Unknown Source:-1)");
}

namespace {

// The own walk finds f called by g; so does AsyncGetCallTrace, at first.
struct WithWalk {
  SampledVm vm;
  void* f = vm.method("App", "f");
  void* g = vm.method("App", "g");
  explicit WithWalk(const char* sampler = "auto", bool has_walk = true, bool takes_events = false) {
    vm.mock.settings.events = takes_events ? 1 : 0;
    vm.mock.add_app_thread(1, 101);
    vm.has_walk = has_walk;
    vm.own_stack = vm.stack = {{1, f}, {2, g}};
    vm.create({{"sampler", sampler}});
    REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  }
  void ticks(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) vm.tick(101);
  }
  Rows rows() {
    vm.report();
    return vm.rows();
  }
};

}  // namespace

TEST_CASE("the own walk answers once its stacks have been AsyncGetCallTrace's") {
  WithWalk with;
  with.vm.stack = {};
  with.vm.walk_code = -3;
  with.ticks(3);
  CHECK(with.rows() == Rows{{"JVM.unknown_native_code", 3}});
  with.vm.stack = with.vm.own_stack;
  with.ticks(8);
  with.vm.stack = {};
  with.ticks(5);
  CHECK(with.rows() == Rows{{"JVM.unknown_native_code", 3}, {"App.f", 13}});
  with.vm.own_stack = {};
  with.vm.stack = {{2, with.g}};
  with.ticks(4);
  CHECK(with.rows() == Rows{{"JVM.unknown_native_code", 3}, {"App.f", 13}, {"App.g", 4}});
  CHECK(with.vm.has_note("65.00% whole, 20.00% by AsyncGetCallTrace, which may lose frames, 15.00% lost"));
  with.vm.destroy();
  CHECK_FALSE(with.vm.has_walk);  // closed
}

TEST_CASE("guesses prove nothing, and stacks with frames behind the depth are counted apart") {
  WithWalk with;
  with.vm.own_how = HPROF_WALKED_GUESS;
  with.ticks(20);
  with.vm.stack = {};
  with.vm.walk_code = -3;
  with.ticks(1);
  CHECK(with.rows() == Rows{{"App.f", 20}, {"JVM.unknown_native_code", 1}});
  with.vm.own_how = HPROF_WALKED_ANCHOR;
  with.vm.own_is_cut = 1;
  with.vm.stack = with.vm.own_stack;
  with.ticks(21);
  with.vm.report();
  CHECK(with.vm.has_note(" 0.00% whole, 50.00% cut at depth=, 47.62% by AsyncGetCallTrace"));
}

TEST_CASE("a walk whose stacks differ from AsyncGetCallTrace's is not used any more") {
  WithWalk with;
  constexpr const char* kNote = "cpu=samples: the agent's own walk was given up";
  with.ticks(10);
  with.rows();
  CHECK_FALSE(with.vm.has_note(kNote));
  with.vm.stack = {{2, with.g}};
  for (int i = 0; i < 12; i++) {  // one in 64 is compared
    with.ticks(64);
    with.vm.mock.run_thread(0, 1);
  }
  REQUIRE(with.vm.distrusted != nullptr);
  with.ticks(5);
  CHECK(with.rows()["App.g"] >= 5);
  CHECK(with.vm.has_note(kNote));
  with.vm.destroy();
  CHECK_FALSE(with.vm.has_walk);  // closed
}

TEST_CASE("where AsyncGetCallTrace ends early its stack proves nothing, and refutes nothing") {
  WithWalk with;
  with.vm.stack = {{1, with.f}};
  with.ticks(20);
  with.vm.stack = with.vm.own_stack;
  with.ticks(8);
  with.vm.stack = {{1, with.f}};
  for (int i = 0; i < 30; i++) {
    with.ticks(64);
    with.vm.mock.run_thread(0, 1);
  }
  CHECK(with.vm.distrusted == nullptr);
  with.vm.report();
  std::map<size_t, uint64_t> counts;  // by frames of the trace
  for (const auto& row : rows_of<hprof_cpu_row>(*with.vm.table()))
    counts[with.vm.mock.trace_text(static_cast<hprof_trace_serial>(row.trace)).size()] += row.count;
  CHECK(counts == std::map<size_t, uint64_t>{{1, 20}, {2, 30 * 64 + 8}});
}

TEST_CASE("where a frame waits for deoptimization, AsyncGetCallTrace's shorter stacks prove the walk, too") {
  WithWalk with;
  with.vm.own_by_vm = 1;
  with.vm.stack = {{1, with.f}};
  with.ticks(5);
  const auto trace_lines = [&] {
    with.vm.report();
    std::map<size_t, uint64_t> counts;  // by frames of the trace
    for (const auto& row : rows_of<hprof_cpu_row>(*with.vm.table()))
      counts[with.vm.mock.trace_text(static_cast<hprof_trace_serial>(row.trace)).size()] += row.count;
    return counts;
  };
  CHECK(trace_lines() == std::map<size_t, uint64_t>{{1, 4}, {2, 1}});
  with.ticks(1000);
  CHECK(trace_lines() == std::map<size_t, uint64_t>{{1, 4}, {2, 1001}});
  const auto differs = [&](const std::vector<hprof_async_frame>& stack) {
    with.vm.stack = stack;
    for (int i = 0; i < 30; i++) {
      with.ticks(64);
      with.vm.mock.run_thread(0, 1);
    }
    return with.vm.distrusted != nullptr;
  };
  CHECK_FALSE(differs(with.vm.own_stack));  // it went on, to the same frames
  CHECK(differs({{1, with.g}}));
}

TEST_CASE("where the interrupted code is not compiled, only its callers are compared") {
  WithWalk with;
  with.vm.own_how = HPROF_WALKED_INTERPRETER;
  with.vm.stack = {{7, with.f}, {2, with.g}};
  with.ticks(8);
  with.vm.stack = {};
  with.ticks(2);
  CHECK(with.rows() == Rows{{"App.f", 10}});
}

namespace {

void interrupt(WithWalk* with, const hprof_native_name& name, uint32_t in_call, uint32_t count) {
  with->vm.own_outside += 16;
  with->vm.own_in_call = in_call;
  with->vm.outside_names[with->vm.own_outside] = name;
  with->ticks(count);
}

}  // namespace

TEST_CASE("sampler=native: code outside of Java methods is the first frame of stacks by the own walk") {
  WithWalk with("native");
  with.vm.own_outside = 0x1000;
  with.vm.stack = {{2, with.g}};
  with.ticks(1);
  with.vm.stack = with.vm.own_stack;
  interrupt(&with, {"libz.so.1", "deflate"}, 0, 8);
  interrupt(&with, {"libz.so.1", ""}, 0, 2);
  interrupt(&with, {"libc.so.6", "write"}, 1, 3);
  interrupt(&with, {"", ""}, 1, 4);
  interrupt(&with, {"", "StubRoutines (1)"}, 0, 5);
  interrupt(&with, {"", ""}, 0, 6);
  with.vm.own_outside = 0;
  with.ticks(7);
  CHECK(with.rows() == Rows{{"App.g", 1},
                            {"libz.so.1.deflate", 8},
                            {"libz.so.1.no_symbol", 2},
                            {"[kernel].write", 3},
                            {"[kernel].system_call", 4},
                            {"JVM.StubRoutines_1", 5},
                            {"JVM.code_of_no_library", 6},
                            {"App.f", 7}});
  const auto rows = rows_of<hprof_cpu_row>(*with.vm.table());
  const auto trace = with.vm.mock.trace_text(static_cast<hprof_trace_serial>(rows[0].trace));
  REQUIRE(trace.size() == 3);
  CHECK(trace[0] == "libz.so.1.deflate(Unknown Source:-1)");
  CHECK(trace[1] == "App.f(Unknown Source:1)");
  CHECK(trace[2] == "App.g(Unknown Source:2)");
}

TEST_CASE("other samplers leave code outside of Java methods to the method that called it") {
  WithWalk with;
  interrupt(&with, {"libz.so.1", "deflate"}, 0, 8);
  CHECK(with.rows() == Rows{{"App.f", 8}});
}

TEST_CASE("what ran the methods on top of whole stacks is a note") {
  WithWalk with;
  with.ticks(6);
  with.vm.own_kind = HPROF_FRAME_INTERPRETED;
  with.ticks(1);
  with.vm.own_kind = HPROF_FRAME_INLINED;
  with.ticks(1);
  with.rows();
  CHECK(with.vm.has_note(": 12.50% interpreted, 75.00% compiled by C2, 12.50% inlined\n"));
  with.vm.ops->reset(with.vm.self);
  with.rows();
  CHECK_FALSE(with.vm.has_note("methods on top"));
}

TEST_CASE("events have what ran the method on top, if the agent walks stacks itself") {
  constexpr uint32_t kCode = HPROF_CPU_SAMPLE_EVENT_CONTEXT;
  for (const bool has_walk : {true, false}) {
    WithWalk with("auto", has_walk, true);
    const char* const kWant[] = {nullptr, "Interpreted", "C1 compiled", "JIT compiled", "Inlined", "Native"};
    for (uint32_t kind = 0; kind < HPROF_FRAME_KINDS; kind++) {
      with.vm.own_kind = kind;
      with.ticks(1);
    }
    with.vm.own_kind = HPROF_FRAME_C2;
    with.vm.own_stack[0].method = nullptr;  // JVM.unknown_method
    with.ticks(1);
    with.rows();
    REQUIRE(with.vm.mock.events.size() == HPROF_FRAME_KINDS + 1);
    for (uint32_t i = 0; i <= HPROF_FRAME_KINDS; i++) {
      const auto& table = with.vm.mock.events[i].as<hprof_rec_table>();
      REQUIRE(table.schema->column_count == (has_walk ? kCode + 1 : kCode));
      if (!has_walk) continue;
      CHECK(std::string(hprof_column_at(table.schema, kCode)->name) == "code");
      const auto code = static_cast<hprof_string_id>(hprof_row_at(&table, 0)[kCode].u);
      const char* want = i < HPROF_FRAME_KINDS ? kWant[i] : nullptr;
      CHECK((want != nullptr ? code == with.vm.mock.string(want) : code == 0));
    }
  }
}

TEST_CASE("sampler=native: without the own walk a note says that frames are missing") {
  SampledVm vm;
  vm.mock.add_app_thread(1, 101);
  vm.stack = {{1, vm.method("App", "f")}};
  vm.create({{"sampler", "native"}});
  REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
  vm.tick(101);
  vm.report();
  CHECK(vm.rows() == Rows{{"App.f", 1}});
  CHECK(vm.has_note("no frames of native code"));
}

TEST_CASE("a note names the VM's own walk for profilers, where it has one") {
  for (const char* id :
       {"com.sun.hotspot.functions.RequestStackTrace", "com.sun.hotspot.functions.IsClassUnloadingEnabled"}) {
    SampledVm vm;
    vm.mock.add_app_thread(1, 101);
    vm.stack = {{1, vm.method("App", "f")}};
    vm.extensions = {"com.acme.First", id};
    const int blocks = vm.blocks;
    vm.create();
    REQUIRE(vm.ops->start(vm.self) == HPROF_OK);
    CHECK(vm.blocks == blocks);
    vm.tick(101);
    vm.report();
    CHECK(vm.has_note("(RequestStackTrace), which the agent does not use") ==
          (vm.extensions[1].find("Request") != std::string::npos));
  }
}
