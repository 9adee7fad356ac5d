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
  CHECK(vm.notes().find(
            "5 samples without a stack (class JVM in the table): gc_active 2 unwalkable_java_code 1 "
            "walk_fault 1 not_a_java_thread 1") != std::string::npos);
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
  CHECK(t.vm.notes().find("without a stack") == std::string::npos);
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
