#include "core/modules/hotspot/sample_walk.h"

#include <cstring>
#include <random>
#include <string>
#if defined(__linux__) && defined(__x86_64__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "tests/unit/hotspot/fake_stack.h"
#include "tests/unit/hotspot/test_method.h"

using namespace hprof;
using namespace hprof::test;

namespace {

// Compiled code, in which `inner` is inlined in `outer`, called by the interpreted method `caller` at
// bytecode 7.
struct Sampled {
  Sampled() {
    REQUIRE(vm.why_not_sampled == nullptr);
    FakeStack::set_scopes(code, pc, {{&inner.method, 5}, {&outer.method, 9}});
    FakeStack::call_before(pc);
    FakeStack::set_scopes(leaf, leaf_pc + 5, {{&top.method, 3}});
  }
  // Interrupted in `leaf`, which has been called at pc. pushed: words on the stack beyond the frame of
  // `leaf`.
  platform::MachineRegisters build(uint32_t pushed = 0) {
    vm.begin();
    vm.compiled(leaf_pc, 6 + pushed);
    vm.compiled(pc, 10);
    vm.interpreted(address(&caller.method), address(caller.constant.code) + 7);
    vm.end();
    return vm.interrupted();
  }
  // The same with nothing of the frame of `leaf` but the return address.
  platform::MachineRegisters build_bare() {
    auto at = build();
    at.sp += 5 * kWord;
    if (machine::kReturnsByLink) {
      at.sp += kWord;
      at.link = pc;
    }
    return at;
  }
  // The code at leaf_pc.
  void set_code(const void* bytes, size_t size) const {
    std::memcpy(reinterpret_cast<void*>(static_cast<uintptr_t>(leaf_pc)), bytes, size);
  }
  void is_whole(const std::vector<hprof_async_frame>& found) const {
    REQUIRE(found.size() == 4);
    CHECK(found[0].method == top.id());
    CHECK(found[0].index == 3);
    CHECK(found[1].method == inner.id());
    CHECK(found[1].index == 5);
    CHECK(found[2].method == outer.id());
    CHECK(found[2].index == 9);
    CHECK(found[3].method == caller.id());
    CHECK(found[3].index == 7);
  }
  FakeStack vm;
  TestMethod top, inner, outer, caller;
  uint64_t leaf = vm.add_blob("nmethod", 2048, 6, address(&top.method), 4);
  uint64_t code = vm.add_blob("nmethod", 2048, 10, address(&outer.method), 5);
  uint64_t stub = vm.add_blob("StubRoutines (1)", 2048, 0, 0, 0);
  uint64_t leaf_pc = leaf + 1200, pc = code + 1400;
  hprof_interrupted_stack stack = {};
};

}  // namespace

TEST_CASE("the stack of interrupted compiled code is listed up to its root") {
  if (!SampleWalk::kKnowsMachine) return;
  Sampled program;
  program.is_whole(program.vm.walk_sampled(program.build(), 10, &program.stack));
  CHECK(program.stack.how == HPROF_WALKED_BODY);
  CHECK(program.stack.is_cut == 0);
  CHECK(program.stack.outside == 0);
  CHECK(program.vm.walk_sampled(program.build(), 2, &program.stack).size() == 2);
  CHECK(program.stack.is_cut == 1);
}

TEST_CASE(
    "a frame that waits for deoptimization is named by its original position, and ends what the VM has") {
  if (!SampleWalk::kKnowsMachine) return;
  Sampled program;
  CHECK(program.vm.walk_sampled(program.build(), 10, &program.stack).size() == 4);
  CHECK(program.stack.by_vm == 4);
  const uint64_t original = program.pc;
  program.pc = program.code + 2000;  // of the handler
  const auto at = program.build();
  constexpr uint32_t kLeafWords = 6, kSlot = 2;
  reinterpret_cast<uint64_t*>(at.sp)[kLeafWords + kSlot] = original;
  *reinterpret_cast<uint32_t*>(program.code + FakeStack::kOrigPc) = kSlot * sizeof(uint64_t);
  program.is_whole(program.vm.walk_sampled(at, 10, &program.stack));
  CHECK(program.stack.by_vm == 1);
  CHECK(program.vm.walk_sampled(at, 1, &program.stack).size() == 1);
  CHECK(program.stack.by_vm == 1);
}

TEST_CASE("what runs the innermost frame is known") {
  if (!SampleWalk::kKnowsMachine) return;
  Sampled program;
  const auto kind = [&] {
    program.vm.walk_sampled(program.build(), 10, &program.stack);
    return program.stack.kind;
  };
  auto& level = *reinterpret_cast<uint8_t*>(program.leaf + FakeStack::kLevel);
  level = 1;
  CHECK(kind() == HPROF_FRAME_C1);
  level = 4;
  CHECK(kind() == HPROF_FRAME_C2);
  FakeStack::set_scopes(program.leaf, program.leaf_pc + 5,
                        {{&program.inner.method, 5}, {&program.top.method, 3}});
  CHECK(kind() == HPROF_FRAME_INLINED);
  CHECK(program.vm.walk_sampled(program.build(), 10, &program.stack).size() == 5);
}

TEST_CASE("the last instruction of a position is of that position, one behind a call of the next") {
  if (!SampleWalk::kKnowsMachine) return;
  Sampled program;
  FakeStack::set_scopes(program.leaf, program.leaf_pc, {{&program.top.method, 3}});
  program.is_whole(program.vm.walk_sampled(program.build(), 10, &program.stack));
  CHECK(program.stack.how == HPROF_WALKED_GUESS);
  FakeStack::call_before(program.leaf_pc);
  const auto found = program.vm.walk_sampled(program.build(), 10, &program.stack);
  REQUIRE(found.size() == 4);
  CHECK(found[0].index == 0);
  CHECK(program.stack.how == HPROF_WALKED_BODY);
}

TEST_CASE("the caller is found behind pushed words, in exit code, in a stub") {
  if (!SampleWalk::kKnowsMachine) return;
  Sampled program;
  SUBCASE("pushed words") { program.is_whole(program.vm.walk_sampled(program.build(2), 10, &program.stack)); }
  SUBCASE("exit code") {
    constexpr uint32_t kReturn = machine::kReturnsByLink ? 0xd65f03c0 : 0xc3;
    program.set_code(&kReturn, sizeof kReturn);
    program.is_whole(program.vm.walk_sampled(program.build_bare(), 10, &program.stack));
  }
  SUBCASE("exit code of a native method: a safepoint poll, which jumps over its slow path") {
    constexpr uint8_t kX86[] = {0x41, 0xf6, 0x47, 0x28, 0x01, 0x74, 0x02, 0x90, 0x90, 0xc3};
    constexpr uint32_t kArm[] = {0x36000048, 0xd503201f, 0xd65f03c0};  // tbz w8, 0, .+8; nop; ret
    if (machine::kReturnsByLink) {
      program.set_code(kArm, sizeof kArm);
    } else {
      program.set_code(kX86, sizeof kX86);
    }
    program.is_whole(program.vm.walk_sampled(program.build_bare(), 10, &program.stack));
  }
  SUBCASE("a jump out of the method, behind its frame") {
    constexpr uint8_t kX86[] = {0xe9, 0, 0x10, 0, 0};
    constexpr uint32_t kArm = 0x14000400;  // b .+0x1000
    if (machine::kReturnsByLink) {
      program.set_code(&kArm, sizeof kArm);
    } else {
      program.set_code(kX86, sizeof kX86);
    }
    program.is_whole(program.vm.walk_sampled(program.build_bare(), 10, &program.stack));
  }
  SUBCASE("a stub that saves two registers") {
    auto at = program.build();
    at.pc = program.stub + 300;
    at.sp += 3 * kWord;
    CHECK(program.vm.walk_sampled(at, 10, &program.stack).size() == 3);
    CHECK(program.stack.outside == at.pc);
    CHECK(program.stack.in_call == 0);
    hprof_native_name name = {};
    program.vm.sampled.name_outside(at.pc, &name);
    CHECK(std::string(name.owner).empty());
    CHECK(std::string(name.symbol) == "StubRoutines (1)");
  }
  CHECK(program.stack.how == HPROF_WALKED_GUESS);
}

TEST_CASE("the return address of an adapter or a stub may be in a register alone") {
  if (!SampleWalk::kKnowsMachine) return;
  Sampled program;
  auto at = program.build();
  const uint64_t caller_sp = at.sp + 6 * kWord;
  at.sender = at.old_sender = caller_sp;
  SUBCASE("an adapter has popped the return address into a register") {
    if (machine::kReturnsByLink) return;  // see below
    at.pc = program.vm.add_blob("I2C/C2I adapters", 2048, 0, 0, 0) + 300;
    at.sp = caller_sp;
    at.kept = program.pc;
  }
  SUBCASE("a runtime stub on aarch64 has made no call, so the link register holds the return address") {
    if (!machine::kReturnsByLink) return;
    const uint64_t stub = program.vm.add_blob("slow_subtype_check Runtime1 stub", 2048, 12, 0, 0);
    FakeStack::call_before(program.pc, static_cast<int32_t>(stub + 16 - program.pc));
    at.pc = stub + 300;
    at.sp = caller_sp;
    at.link = program.pc;
  }
  const auto found = program.vm.walk_sampled(at, 10, &program.stack);
  REQUIRE(found.size() == 3);
  CHECK(found[0].method == program.inner.id());
  CHECK(found[2].method == program.caller.id());
}

TEST_CASE("a method handle's linker, which has no frame, is on top of its caller") {
  if (!SampleWalk::kKnowsMachine) return;
  Sampled program;
  TestMethod linker;
  const uint64_t code = program.vm.add_blob("native nmethod", 2048, 0, address(&linker.method), 6);
  auto at = program.build_bare();
  at.pc = code + 300;
  const auto found = program.vm.walk_sampled(at, 10, &program.stack);
  REQUIRE(found.size() == 4);
  CHECK(found[0].method == linker.id());
  CHECK(found[0].index == -3);
  CHECK(found[1].method == program.inner.id());
  CHECK(found[3].method == program.caller.id());
  CHECK(program.stack.how == HPROF_WALKED_GUESS);
  CHECK(program.stack.kind == HPROF_FRAME_NATIVE);
}

TEST_CASE(
    "a virtual thread's method that has left the carrier's stack is not on top of the carrier's frames") {
  if (!SampleWalk::kKnowsMachine) return;
  Sampled program;
  TestMethod yields, enters;
  const uint64_t leaving = program.vm.add_blob("native nmethod", 2048, 2, address(&yields.method), 6);
  const uint64_t entry = program.vm.add_blob("native nmethod", 2048, 10, address(&enters.method), 7);
  FakeStack::call_before(entry + 300);
  program.vm.begin();
  program.vm.compiled(leaving + 300, 10);
  program.vm.compiled(program.pc, 10);
  program.vm.interpreted(address(&program.caller.method), address(program.caller.constant.code) + 7);
  program.vm.end();
  const auto at = program.vm.interrupted();
  CHECK(program.vm.walk_sampled(at, 10, &program.stack).empty());
  program.vm.set_continuation_return(entry + 300);
  const auto found = program.vm.walk_sampled(at, 10, &program.stack);
  REQUIRE(found.size() == 4);
  CHECK(found[0].method == enters.id());
  CHECK(found[1].method == program.inner.id());
  CHECK(found[3].method == program.caller.id());
  CHECK(program.stack.has_hole == 0);
}

TEST_CASE("a return address that is left of a native method's call has not called the stub above it") {
  if (!SampleWalk::kKnowsMachine) return;
  Sampled program;
  TestMethod native;
  const uint64_t wrapper = program.vm.add_blob("native nmethod", 2048, 7, address(&native.method), 6);
  auto at = program.build();
  at.pc = 0x1234;  // native code that the stub has called
  at.sp -= 3 * kWord;
  at.fp = 0;
  auto* words = reinterpret_cast<uint64_t*>(static_cast<uintptr_t>(at.sp));
  words[0] = program.stub + 300;
  words[1] = wrapper + 500;  // its frame would end where the one of `leaf` does
  words[2] = program.leaf_pc;
  for (int i = 0; i < 3; i++) FakeStack::call_before(words[i]);
  FakeStack::set_scopes(program.leaf, program.leaf_pc, {{&program.top.method, 3}});
  FakeStack::call_before(program.leaf_pc, static_cast<int32_t>(program.stub + 16 - program.leaf_pc));
  program.is_whole(program.vm.walk_sampled(at, 10, &program.stack));
  CHECK(program.stack.outside == at.pc);
}

TEST_CASE("a frame that an interpreted method is making is not read from what is left below the stack") {
  if (!SampleWalk::kKnowsMachine) return;
  Sampled program;
  program.vm.begin();
  program.vm.interpreted(address(&program.top.method), address(program.top.constant.code) + 3);
  program.vm.compiled(program.pc, 10);
  program.vm.interpreted(address(&program.caller.method), address(program.caller.constant.code) + 7);
  program.vm.end();
  auto at = program.vm.interrupted();
  program.is_whole(program.vm.walk_sampled(at, 10, &program.stack));
  CHECK(program.stack.how == HPROF_WALKED_INTERPRETER);
  at.sp = at.fp - 7 * kWord;
  const auto found = program.vm.walk_sampled(at, 10, &program.stack);
  REQUIRE(found.size() == 3);
  CHECK(found[0].method == program.inner.id());
  CHECK(program.stack.how == HPROF_WALKED_GUESS);
}

TEST_CASE("a stack with a frame that is not known is not listed") {
  if (!SampleWalk::kKnowsMachine) return;
  Sampled program;
  SUBCASE("no call precedes the return address") { FakeStack::no_call_before(program.pc); }
  SUBCASE("a position outside of the bytecode") { program.caller.constant.code_size = 7; }
  SUBCASE("a bytecode that calls nothing") { program.caller.constant.code[7] = 0xa7; }  // goto
  SUBCASE("a method without a class") { program.caller.pool = 0; }
  SUBCASE("a method that is not there") { program.caller.method = 4096; }
  SUBCASE("a frame that does not end on the stack") { program.vm.compile_again(program.code, 5, 100000); }
  CHECK(program.vm.walk_sampled(program.build(), 10, &program.stack).empty());
}

TEST_CASE("a method without an id has no name, but its frame is one") {
  if (!SampleWalk::kKnowsMachine) return;
  Sampled program;
  program.caller.ids[0] = 0;
  const auto found = program.vm.walk_sampled(program.build(), 10, &program.stack);
  REQUIRE(found.size() == 4);
  CHECK(found[3].method == nullptr);
}

#if defined(__linux__) && defined(__x86_64__)
namespace {

// Makes a guarded read fault: its instruction becomes `hlt`, which only the kernel may execute.
class FaultingRead {
 public:
  explicit FaultingRead(const platform::GuardedPlace& place)
      : instruction_(reinterpret_cast<volatile uint8_t*>(address(&place.load) +
                                                         static_cast<uint64_t>(int64_t{place.load}))),
        was_(*instruction_) {
    write(0xf4);
  }
  ~FaultingRead() { write(was_); }
  FaultingRead(const FaultingRead&) = delete;

 private:
  void write(uint8_t byte) {
    const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    auto* page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(instruction_) & ~(size - 1));
    REQUIRE(mprotect(page, size, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
    *instruction_ = byte;
    REQUIRE(mprotect(page, size, PROT_READ | PROT_EXEC) == 0);
  }
  volatile uint8_t* const instruction_;
  const uint8_t was_;
};

// Where the thread is interrupted.
platform::MachineRegisters interrupt(Sampled* program, uint32_t where) {
  switch (where) {
    case 0:
      return program->build();
    case 1:
      return program->build(2);
    case 2: {
      auto at = program->build();
      at.pc = program->stub + 300;
      at.sp += 3 * kWord;
      return at;
    }
    case 3: {  // native code with frame pointers
      auto at = program->build();
      at.pc = 1;
      at.fp = at.sp + 4 * kWord;
      return at;
    }
    default: {
      program->vm.begin();
      program->vm.interpreted(address(&program->top.method), address(program->top.constant.code) + 2);
      program->vm.compiled(program->pc, 10);
      program->vm.interpreted(address(&program->caller.method), address(program->caller.constant.code) + 7);
      program->vm.end();
      return program->vm.interrupted();
    }
  }
}

}  // namespace

TEST_CASE("a stack has no wrong frame when any guarded read faults") {
  constexpr uint32_t kPlaces = 5, kFrames[kPlaces] = {4, 4, 3, 3, 4};
  Sampled program;
  const auto walk = [&](uint32_t where) {
    return program.vm.walk_sampled(interrupt(&program, where), 10, &program.stack);
  };
  const platform::GuardedReads& reads = *platform::own_guarded_reads();
  for (uint32_t where = 0; where < kPlaces; where++) {
    CAPTURE(where);
    const auto whole = walk(where);
    REQUIRE(whole.size() == kFrames[where]);
    uint32_t faulty = 0;
    for (const platform::GuardedPlace* place = reads.from; place != reads.to; place++) {
      const uint32_t before = platform::guarded_read_faults();
      std::vector<hprof_async_frame> found;
      {
        FaultingRead fault(*place);
        found = walk(where);
      }
      faulty += platform::guarded_read_faults() != before ? 1 : 0;
      // Where the right guess faults another one may lead to the root.
      size_t next = 0;
      for (const hprof_async_frame& frame : found) {
        while (next < whole.size() && whole[next].method != frame.method) next++;
        REQUIRE(next < whole.size());
        CHECK(frame.index == whole[next++].index);
      }
    }
    CHECK(faulty >= 4);  // without inlining there is one read of each width
    CHECK(walk(where).size() == whole.size());
  }
}
#endif

TEST_CASE("any registers and words are survived") {
  if (!SampleWalk::kKnowsMachine) return;
  Sampled program;
  std::mt19937_64 random(7);
  uint64_t* const words = program.vm.stack();
  const uint64_t low = address(words);
  const auto any = [&]() -> uint64_t {
    switch (random() % 8) {
      case 0:
        return program.pc;
      case 1:
        return program.leaf + random() % 2048;
      case 2:
        return program.stub + random() % 2048;
      case 3:
        return program.vm.interpreter + random() % 4096;
      case 4:
        return low + random() % FakeStack::kStack * kWord;
      case 5:
        return random() % 8192;  // not mapped
      case 6:
        return random();  // hardly an address
      default:
        return address(&program.caller.method);
    }
  };
  for (uint32_t i = 0; i < 20000; i++) {
    for (uint32_t k = 0; k < 64; k++) words[random() % FakeStack::kStack] = any();
    platform::MachineRegisters at = {
        any(), low + random() % FakeStack::kStack * kWord, any(), any(), any(), any(), any()};
    if (i % 16 == 0) at.sp = any();
    const auto found = program.vm.walk_sampled(at, 20, &program.stack);
    REQUIRE(found.size() <= 20);
  }
}
