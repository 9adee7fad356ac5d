#include "core/modules/hotspot/stack_chunks.h"

#include <cstring>
#include <random>

#include "tests/unit/hotspot/fake_stack.h"
#include "tests/unit/hotspot/test_method.h"

using namespace hprof;
using namespace hprof::test;

namespace {

// A mounted virtual thread: `top` is on the carrier's stack; in the heap are compiled code with `inner`
// inlined in `outer`, called by the interpreted `caller`, called by Continuation.enter.
struct Virtual {
  static constexpr uint32_t kWords = 40, kFrame = 26, kBottom = 34;
  struct FakeChunk {
    uint64_t header = 0, parent = 0;
    uint32_t size = kWords, sp = 4, bottom = kBottom, pad = 0;
    uint64_t stack[kWords] = {};
  };
  static constexpr StackChunks::Fields kFields = {8, 8, 8, 16, 20, 24, 32, nullptr, nullptr};

  Virtual() {
    REQUIRE(vm.why_not_sampled == nullptr);
    FakeStack::set_scopes(code, pc, {{&inner.method, 5}, {&outer.method, 9}});
    FakeStack::call_before(pc);
    FakeStack::set_scopes(leaf, leaf_pc + 5, {{&top.method, 3}});
    FakeStack::set_scopes(entry, entry_pc, {{&enters.method, 1}});
    FakeStack::call_before(entry_pc);
    chunk.stack[3] = pc;
    chunk.stack[12] = kFrame - 12;
    chunk.stack[13] = vm.interpreter + 100;
    slot(FrameSlots::kMethod) = address(&caller.method);
    slot(FrameSlots::kBcp) = address(caller.constant.code) + 7;
    slot(FrameSlots::kLocals) = 3;
    slot(FrameSlots::kSenderSp) = kBottom - 4 - kFrame;
    chunk.stack[kFrame + 1] = entry_pc;
    continuation[1] = address(&chunk);
    thread[1] = address(continuation);
    vm.set_carrier(&carrier);
    StackChunks::Fields fields = kFields;
    fields.enter = enters.id();
    fields.yields = yields.id();
    vm.sampled.use_chunks(fields, nullptr);
  }
  uint64_t& slot(int32_t number) { return chunk.stack[static_cast<uint32_t>(int32_t{kFrame} + number)]; }
  std::vector<hprof_async_frame> walk(uint32_t depth = 10) {
    vm.begin();
    vm.compiled(leaf_pc, 6);
    vm.compiled(barrier + 200, 2);
    vm.end();
    return vm.walk_sampled(vm.interrupted(), depth, &stack);
  }
  // `top` has called Continuation.doYield.
  bool is_whole_as_it_yields(uint32_t depth = 10) {
    vm.begin();
    vm.compiled(leaving + 300, 2);
    vm.compiled(back, 6);
    vm.compiled(barrier + 200, 2);
    vm.end();
    const auto found = vm.walk_sampled(vm.interrupted(), depth, &stack);
    return found.size() == 6 && stack.has_hole == 0 && found[0].method == yields.id() &&
           found[1].method == top.id() && found[1].index == 4 && found[2].method == inner.id() &&
           found[4].method == caller.id() && found[5].method == enters.id();
  }
  // `top` is in the VM.
  std::vector<hprof_async_frame> walk_from_vm(uint64_t at, uint32_t words) {
    vm.begin();
    vm.compiled(at, words);
    vm.compiled(barrier + 200, 2);
    vm.end();
    return vm.walk_sampled(vm.in_vm(), 10, &stack);
  }
  void calls_in_top() {
    FakeStack::set_scopes(leaf, back, {{&top.method, 4}});
    FakeStack::call_before(back);
  }
  bool is_whole(uint32_t depth = 10) {
    const auto found = walk(depth);
    return found.size() == 5 && stack.has_hole == 0 && stack.has_heap == 1 && found[0].method == top.id() &&
           found[1].method == inner.id() && found[1].index == 5 && found[2].method == outer.id() &&
           found[2].index == 9 && found[3].method == caller.id() && found[3].index == 7 &&
           found[4].method == enters.id();
  }

  FakeStack vm{0, 19};  // whose positions are as of Java 17
  TestMethod top, inner, outer, caller, enters, yields;
  uint64_t leaf = vm.add_blob("nmethod", 2048, 6, address(&top.method), 4);
  uint64_t code = vm.add_blob("nmethod", 2048, 10, address(&outer.method), 5);
  uint64_t entry = vm.add_blob("nmethod", 2048, 4, address(&enters.method), 6);
  uint64_t barrier = vm.add_blob("StubRoutines (continuation stubs)", 2048, 0, 0, 0);
  uint64_t leaving = vm.add_blob("native nmethod", 2048, 2, address(&yields.method), 9);
  uint64_t leaf_pc = leaf + 1200, back = leaf + 1400, pc = code + 1400, entry_pc = entry + 1400;
  FakeChunk chunk;
  uint64_t continuation[2] = {}, thread[2] = {}, carrier = address(thread);
  hprof_interrupted_stack stack = {};
};

constexpr bool kReadsChunks = SampleWalk::kKnowsMachine && FrameSlots::kLocals != 0;

}  // namespace

TEST_CASE("the frames that a virtual thread has in the heap are listed up to its root") {
  if (!kReadsChunks) return;
  Virtual program;
  CHECK(program.is_whole());
  CHECK(program.walk(3).size() == 3);
  CHECK(program.stack.is_cut == 1);
  CHECK(program.stack.has_hole == 0);
}

TEST_CASE("a chunk's callers are in its parent") {
  if (!kReadsChunks) return;
  Virtual program;
  Virtual::FakeChunk inner, empty;
  inner.stack[3] = program.pc;
  inner.bottom = 14;
  inner.parent = address(&program.chunk);
  empty.sp = empty.bottom;
  empty.parent = address(&inner);
  program.chunk.sp = 14;
  program.continuation[1] = address(&empty);
  CHECK(program.is_whole());
}

TEST_CASE("a stack whose frames in the heap are not what they have to be is not listed") {
  if (!kReadsChunks) return;
  Virtual program;
  REQUIRE(program.is_whole());
  SUBCASE("nothing is mounted") { program.carrier = 0; }
  SUBCASE("no continuation") { program.thread[1] = 0; }
  SUBCASE("no chunk") { program.continuation[1] = 0; }
  SUBCASE("a chunk that cannot be read") { program.continuation[1] = 4096; }
  SUBCASE("an empty chunk") { program.chunk.sp = Virtual::kBottom; }
  SUBCASE("a chunk with no end") { program.chunk.size = UINT32_MAX; }
  SUBCASE("frames beyond the bottom") { program.chunk.bottom--; }
  SUBCASE("frames that do not reach the bottom") { program.chunk.bottom++; }
  SUBCASE("chunks in a ring") { program.chunk.parent = address(&program.chunk); }
  SUBCASE("empty chunks in a ring") {
    program.chunk.sp = Virtual::kBottom;
    program.chunk.parent = address(&program.chunk);
  }
  SUBCASE("no call before a return address") { FakeStack::no_call_before(program.pc); }
  SUBCASE("an interpreted frame of no method") { program.slot(FrameSlots::kMethod) = 4096; }
  SUBCASE("a sender outside of the chunk") { program.slot(FrameSlots::kSenderSp) = 1u << 20; }
  SUBCASE("another outermost method") { program.enters.ids[1]++; }
  SUBCASE("a collection is moving objects") { program.vm.collected_heap.pause = 1; }
  CHECK(program.walk().empty());
}

TEST_CASE(
    "Continuation.doYield has its callers on the stack, before and after it has put them into the heap") {
  if (!kReadsChunks) return;
  Virtual program;
  program.calls_in_top();
  CHECK(program.is_whole_as_it_yields());
  Virtual::FakeChunk copies;
  copies.stack[3] = program.back;
  copies.bottom = 10;
  copies.parent = address(&program.chunk);
  program.continuation[1] = address(&copies);
  CHECK(program.is_whole_as_it_yields());
  CHECK(!program.is_whole_as_it_yields(3));
  CHECK(program.stack.is_cut == 1);
  // Other frames behind a first one that is a copy.
  FakeStack::set_scopes(program.leaf, program.back, {{&program.top.method, 4}, {&program.outer.method, 1}});
  copies.stack[3] = program.entry_pc;
  copies.bottom = 8;
  copies.parent = 0;
  FakeStack::set_scopes(program.entry, program.entry_pc,
                        {{&program.top.method, 4}, {&program.enters.method, 1}});
  CHECK(!program.is_whole_as_it_yields());
}

TEST_CASE("frames are not listed while the thread may be putting them into the heap for a monitor") {
  if (!kReadsChunks) return;
  Virtual program;
  program.calls_in_top();
  CHECK(program.walk_from_vm(program.back, 6).size() == 5);
  CHECK(program.stack.has_hole == 0);
  CHECK(program.walk_from_vm(program.pc, 10).empty());
}

TEST_CASE("the code of Continuation.enterSpecial tells where a thread has the entry of its continuation") {
  if (!kReadsChunks) return;
  constexpr uint32_t kEntry = 24, kSpecialWords = 10;
  FakeStack vm(0, 19, nullptr, false);
  TestMethod special, top, runs;
  const uint64_t leaf = vm.add_blob("nmethod", 2048, 6, address(&top.method), 4);
  const uint64_t barrier = vm.add_blob("StubRoutines (continuation stubs)", 2048, 0, 0, 0);
  uint64_t method[2] = {special.method, 0};
  const uint64_t* id = method;
  method[1] = vm.add_blob("native nmethod", 2048, kSpecialWords, address(method), 6);
  const uint64_t back = method[1] + 160;
  FakeStack::set_scopes(leaf, leaf + 1205, {{&top.method, 3}});
  vm.begin();
  vm.compiled(leaf + 1200, 6);
  vm.compiled(barrier + 200, kEntry - 16 - 6);
  vm.compiled(back, kSpecialWords);
  vm.interpreted(address(&runs.method), address(runs.constant.code) + 7);
  vm.end();
  hprof_interrupted_stack stack = {};
  const auto at = vm.interrupted();
  const auto walked = [&] {
    StackChunks::Fields fields = Virtual::kFields;
    fields.special = &id;
    vm.sampled.use_chunks(fields, "not here");
    return vm.walk_sampled(at, 10, &stack).size();
  };
  const auto entry = static_cast<uint8_t>(vm.set_entry(kEntry));
  uint8_t code[] = {0x49, 0x8b, 0x87, entry, 0, 0, 0, 0x48, 0x89, 0x44, 0x24, 8,
                    0x49, 0x89, 0xa7, entry, 0, 0, 0, 0xe8, 0,    0,    0,    0};
  const auto write = [&] {
    std::memcpy(reinterpret_cast<void*>(static_cast<uintptr_t>(back - 24)), code, sizeof code);
  };
  CHECK(walked() == 0);
  code[15]++;  // another field than the one that it loaded
  write();
  CHECK(walked() == 0);
  code[15]--;
  write();
  CHECK(walked() == 3);
  CHECK(stack.has_hole == 1);
}

TEST_CASE("any other word in a chunk does no harm, and no frame follows Continuation.enter") {
  if (!kReadsChunks) return;
  std::mt19937_64 random(65);
  for (uint32_t i = 0; i < 4000; i++) {
    Virtual program;
    auto* words = reinterpret_cast<uint64_t*>(&program.chunk);
    const uint64_t values[] = {random(), random() % 64, address(&program.chunk) + random() % 400,
                               program.code + random() % 2048, uint64_t{0} - random() % 64};
    words[random() % (sizeof program.chunk / kWord)] = values[random() % 5];
    const auto found = program.walk(8);
    for (uint32_t f = 0; f + 1 < found.size(); f++) CHECK(found[f].method != program.enters.id());
  }
}
