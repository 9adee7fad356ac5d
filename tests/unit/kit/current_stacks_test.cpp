#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <hprof/cpp/current_stacks.hpp>

#include "tests/unit/support/unit_vm.h"

using namespace hprof;

namespace {

uint32_t unloaded = 0;
int walk_state = 0;
uint64_t walked_key = 0;  // 0: a frame is not known
bool is_trusted = true;
constexpr uint32_t kCompared = 1000;  // first known answers

struct StacksVm : UnitVm {
  hprof_vm_counts_service counts = {};
  CurrentStacks stacks;
  Thread* thread = nullptr;
  uint32_t asked = 0;  // frames
  uint32_t named = 0;  // stacks that were not known
  hprof_walk_service walk = {};

  explicit StacksVm(uint32_t depth = 4, bool has_counts = true, bool has_walk = false) {
    mock.settings.depth = depth;
    if (has_walk) set_walk();
    unloaded = 0;
    counts.size = sizeof counts;
    counts.unloads = [](const hprof_host*) -> const uint32_t* { return &unloaded; };
    if (has_counts) mock.set_service(HPROF_SERVICE_VM_COUNTS, &counts);
    REQUIRE(stacks.open(Services(mock.host()), "unit=y", 0));
    stacks.start();
    thread = &add_thread(7, 70, "App.main");
    run(thread);
  }
  ~StacksVm() override {
    run(nullptr);
    stacks.close();
    CHECK(mock.memory_used == 0);
  }
  // Keys are `walked_key` and the number of frames that are wanted.
  void set_walk() {
    walk.size = sizeof walk;
    walk.seen_bytes = 8;
    walk.open = [](const hprof_host*, void*, const char**) {
      return reinterpret_cast<hprof_walk*>(&walk_state);
    };
    walk.key = [](hprof_walk*, const void*, uint32_t depth, uint64_t, hprof_walk_thread*) -> uint64_t {
      return walked_key != 0 ? walked_key + depth : 0;
    };
    walk.distrust = [](hprof_walk*) { is_trusted = false; };
    mock.set_service(HPROF_SERVICE_WALK, &walk);
    walked_key = 1000;
    is_trusted = true;
  }
  // `inner` frames of the JDK on so many of the program, of which the innermost is App.<first>.
  void stack(uint32_t inner, uint32_t outer, const std::string& first = "run") {
    thread->stack.clear();
    for (uint32_t i = 0; i < inner; i++) thread->stack.push_back({method("Jdk.m" + std::to_string(i)), 1});
    for (uint32_t i = 0; i < outer; i++)
      thread->stack.push_back({method(i == 0 ? "App." + first : "App.m" + std::to_string(i)), 1});
  }
  uint64_t current(hprof_thread_serial of = 0) {
    return stacks.current(
        jni(), of,
        [this](const jvmtiFrameInfo&, hprof_frame_id frame) {
          return begins_with(class_name_of(Services(mock.host()).ids, mock.host(), frame), "Jdk");
        },
        [this](hprof_trace_serial trace) {
          named++;
          return trace;
        });
  }
  uint32_t frames(uint64_t trace) {
    hprof_trace_info info = {};
    info.size = sizeof info;
    REQUIRE(Services(mock.host()).ids->trace_info(mock.host(), static_cast<uint32_t>(trace), &info) != 0);
    return info.frame_count;
  }
};

}  // namespace

TEST_CASE("a stack is named once, by one call of JVMTI afterwards") {
  StacksVm vm;
  vm.stack(2, 6);
  const uint64_t trace = vm.current();
  CHECK(vm.frames(trace) == 4);
  const uint32_t calls = vm.single_calls;
  for (int i = 0; i < 10; i++) CHECK(vm.current() == trace);
  CHECK(vm.named == 1);
  CHECK(vm.single_calls == calls + 10);
  vm.stack(1, 6);
  CHECK(vm.current() == trace);
  CHECK(vm.named == 2);
  vm.stack(2, 6, "other");
  CHECK(vm.current() != trace);
}

TEST_CASE("many inner frames: what follows them tells stacks apart") {
  StacksVm vm;
  vm.stack(CurrentStacks::kMostInner - 1, 6);
  const uint64_t trace = vm.current();
  vm.stack(CurrentStacks::kMostInner - 1, 6, "other");
  const uint64_t other = vm.current();
  CHECK(trace != other);
  CHECK((vm.frames(trace) == 4 && vm.frames(other) == 4));
  CHECK(vm.current() == other);
  vm.stack(CurrentStacks::kMostInner - 1, 6);
  CHECK(vm.current() == trace);
  CHECK(vm.named == 2);
}

TEST_CASE("a stack whose inner frames do not end is not kept, and one of such frames only is shown whole") {
  StacksVm vm;
  vm.stack(CurrentStacks::kMostInner + 10, 6);
  vm.current();
  vm.current();
  CHECK(vm.named == 2);
  vm.stack(3, 0);
  CHECK(vm.frames(vm.current()) == 3);
  vm.current();
  CHECK(vm.named == 3);
}

TEST_CASE("nothing is kept after a class was unloaded, nor where this is not known") {
  StacksVm vm;
  vm.stack(0, 3);
  const uint64_t trace = vm.current();
  unloaded++;
  CHECK(vm.current() == trace);
  CHECK(vm.named == 2);
  CHECK(vm.current() == trace);
  CHECK(vm.named == 2);
  vm.run(nullptr);
  StacksVm without(4, false);
  without.stack(0, 3);
  without.current();
  without.current();
  CHECK(without.named == 2);
}

TEST_CASE("threads have stacks of their own, and depth=0 has none") {
  StacksVm vm;
  vm.stack(2, 6);
  CHECK(vm.current(1) != vm.current(2));
  vm.run(nullptr);
  StacksVm none(0);
  none.stack(2, 6);
  CHECK(none.current() == 0);
}

TEST_CASE("a walked stack asks the VM no more, once the first answers agreed with it") {
  StacksVm vm(4, true, true);
  vm.stack(2, 6);
  const uint64_t trace = vm.current();
  for (uint32_t i = 0; i < kCompared; i++) CHECK(vm.current() == trace);
  const uint32_t calls = vm.single_calls;
  CHECK(calls >= kCompared);
  vm.current();  // the first of its thread after that
  for (int i = 0; i < 100; i++) CHECK(vm.current() == trace);
  CHECK(vm.single_calls == calls + 1);
  CHECK(vm.named == 1);
  walked_key = 2000;
  vm.stack(2, 6, "other");
  CHECK(vm.current() != trace);
  CHECK(vm.single_calls == calls + 2);
  walked_key = 0;
  vm.stack(2, 6);
  CHECK(vm.current() == trace);
  CHECK(vm.single_calls == calls + 3);
  walked_key = 1000;
  unloaded++;
  vm.stack(2, 6, "third");
  CHECK(vm.current() != trace);
  CHECK(is_trusted);
}

TEST_CASE("a walked stack with many inner frames is found by a key of more frames") {
  StacksVm vm(4, true, true);
  vm.stack(CurrentStacks::kMostInner - 1, 6);
  const uint64_t trace = vm.current();
  CHECK(vm.frames(trace) == 4);
  for (uint32_t i = 0; i <= kCompared; i++) CHECK(vm.current() == trace);
  const uint32_t calls = vm.single_calls;
  for (int i = 0; i < 100; i++) CHECK(vm.current() == trace);
  CHECK(vm.single_calls == calls);
  CHECK(vm.named == 1);
}

TEST_CASE("a walk that was wrong is not used any more") {
  StacksVm vm(4, true, true);
  vm.stack(2, 6);
  const uint64_t trace = vm.current();
  vm.stack(2, 6, "other");
  const uint64_t other = vm.current();
  CHECK(other != trace);
  CHECK(!is_trusted);
  CHECK(vm.current() == other);
  vm.stack(2, 6);
  CHECK(vm.current() == trace);
}
