#include "core/hotspot/frame_walk.h"

#include <cstring>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

#include "tests/unit/hotspot/fake_tables.h"

using namespace hprof;

namespace {

// A thread, its stack and a heap of code as HotSpot has them, in memory of the test's own.
class FakeVm {
 public:
  static constexpr uint32_t kSegmentShift = 7;
  static constexpr uint64_t kHeader = 16, kName = 8, kSize = 16, kFrameSize = 24, kMethod = 32, kId = 40,
                            kStub = 44;
  static constexpr uint64_t kProbe = 0x99990;

  explicit FakeVm(uint32_t off = 0, uint32_t java = 17)
      : code_(64 * 1024), segments_(code_.size() >> kSegmentShift, 255) {
    heap_ = {code_.data(), code_.data() + code_.size(), segments_.data(), nullptr, kSegmentShift};
    add_rows();
    tables.finish();
    tables.open(&hotspot, off);
    hotspot.prepare_to_collect();
    interpreter = add_blob("Interpreter", 4096, 0, 0, 0);
    why = walk.open(hotspot, java, &thread_.env, address(&thread_));
    hotspot.settle(Item::kFrameWalk, why);
  }
  ~FakeVm() { hotspot.close(); }

  uint64_t add_blob(const char* name, uint32_t size, int32_t words, uint64_t method, uint32_t id) {
    uint64_t at = next_;
    next_ += (kHeader + size + 127) & ~uint64_t{127};
    for (uint64_t i = at; i < next_; i += 128) {
      uint64_t number = (i - at) >> kSegmentShift;
      segments_[i >> kSegmentShift] = static_cast<uint8_t>(number < 254 ? number : 254);
    }
    uint8_t* blob = code_.data() + at + kHeader;
    put(blob + kName, name);
    put(blob + kSize, size);
    put(blob + kFrameSize, words);
    put(blob + kMethod, method);
    put(blob + kId, id);
    put(blob + kStub, size - 64);
    return address(blob);
  }
  void compile_again(uint64_t blob, uint32_t id, int32_t words) {
    put(reinterpret_cast<uint8_t*>(blob) + kId, id);
    put(reinterpret_cast<uint8_t*>(blob) + kFrameSize, words);
  }

  static void rename(uint64_t blob, const char* name) { put(reinterpret_cast<uint8_t*>(blob) + kName, name); }

  // The stack, from its innermost frame on.
  void begin() {
    at_ = 16;
    thread_.anchor.sp = address(&stack_[at_]);
    thread_.stack_base = address(stack_ + kStack);
  }
  // pc is where the frame is; the return address of the frame before it, or the anchor's.
  void enter(uint64_t pc) { return_to_ ? * return_to_ = pc : thread_.anchor.pc = pc; }
  void compiled(uint64_t pc, uint32_t words) {
    enter(pc);
    at_ += words;
    return_to_ = &stack_[at_ - 1];
    saved_fp_ = &stack_[at_ - 2];
  }
  // Each needs a compiled one before it.
  void interpreted(uint64_t method, uint64_t bcp) {
    enter(interpreter + 100);
    uint64_t fp = at_ + 10;
    saved_fp_ ? * saved_fp_ = address(&stack_[fp]) : thread_.anchor.fp = address(&stack_[fp]);
    stack_[fp - 3] = method;
    stack_[fp - 8] = bcp;
    at_ = fp + 2;
    stack_[fp - 1] = address(&stack_[at_]);
    return_to_ = &stack_[fp + 1];
    saved_fp_ = &stack_[fp];
  }
  void end() {
    wrapper_ = {};
    end(&wrapper_);
  }
  // Native code, called by way of that wrapper.
  void end(const void* wrapper) {
    enter(0x5555);
    uint64_t fp = at_ + 10;
    *saved_fp_ = address(&stack_[fp]);
    stack_[fp - 6] = reinterpret_cast<uintptr_t>(wrapper);
    return_to_ = saved_fp_ = nullptr;
  }
  uint64_t key(uint32_t depth, SeenCode* seen = nullptr, StackChains* chains = nullptr, uint64_t what = 0) {
    of_walk = {seen, chains, nullptr};
    return walk.key(&thread_.env, depth, what, &of_walk);
  }
  // By the methods' Method*, to which jmethodIDs point.
  bool learn(std::vector<uint64_t> methods, SeenCode* seen) {
    of_walk.seen = seen;
    std::vector<hprof_raw_frame> frames;
    for (uint64_t& method : methods) frames.push_back({&method, 0});
    return walk.learn(&thread_.env, frames.data(), static_cast<uint32_t>(frames.size()), &of_walk);
  }
  void learn_raw(const hprof_raw_frame* frame, SeenCode* seen) {
    of_walk.seen = seen;
    walk.learn(&thread_.env, frame, 1, &of_walk);
  }
  bool hide(const void* method) { return walk.hide(&thread_.env, method); }

  FakeTables tables;
  HotSpot hotspot;
  FrameWalk walk;
  hprof_walk_thread of_walk = {};
  const char* why = nullptr;
  uint64_t interpreter = 0;

 private:
  template <class T>
  static uint64_t address(const T* p) {
    return reinterpret_cast<uintptr_t>(p);
  }
  template <class T>
  static void put(uint8_t* to, T value) {
    std::memcpy(to, &value, sizeof value);
  }
  void add_rows();
  struct Anchor {
    uint64_t sp, pc, fp;
  };
  struct Thread {
    uint64_t pad;
    Anchor anchor;
    uint64_t stack_base;
    uint64_t env;
  };
  struct Heap {
    const uint8_t *low, *high;               // of _memory
    const uint8_t *segments, *segments_end;  // of _segmap
    uint32_t shift;
  };
  std::vector<uint8_t> code_, segments_;
  Heap heap_;
  Heap* heap_at_ = &heap_;
  uint64_t call_stub_return_ = 0x5555;
  static constexpr uint32_t kStack = 1024;
  uint64_t stack_[kStack] = {};
  Thread thread_ = {};
  Anchor wrapper_ = {};
  uint64_t next_ = 0, at_ = 0;
  uint64_t* return_to_ = nullptr;
  uint64_t* saved_fp_ = nullptr;
};

void FakeVm::add_rows() {
  tables.field("JavaFrameAnchor", "_last_Java_sp", offsetof(Anchor, sp));
  tables.field("JavaFrameAnchor", "_last_Java_pc", offsetof(Anchor, pc));
  tables.field("JavaFrameAnchor", "_last_Java_fp", offsetof(Anchor, fp));
  tables.field("JavaCallWrapper", "_anchor", 0);
  tables.field("CodeBlob", "_name", kName);
  tables.field("CodeBlob", "_size", kSize);
  tables.field("CodeBlob", "_frame_size", kFrameSize);
  tables.field("nmethod", "_method", kMethod);
  tables.field("nmethod", "_compile_id", kId);
  tables.field("nmethod", "_stub_offset", kStub);
  tables.field("Thread", "_anchor", offsetof(Thread, anchor));
  tables.field("Thread", "_stack_base", offsetof(Thread, stack_base));
  tables.static_field("StubRoutines", "_call_stub_return_address", &call_stub_return_);
  tables.field("Method", "_constMethod", 0);
  tables.field("ConstMethod", "_method_idnum", 0);
  tables.field("ConstMethod", "_constants", 0);
  tables.field("ConstantPool", "_pool_holder", 0);
  tables.field("InstanceKlass", "_methods_jmethod_ids", 0);
  tables.field("CodeHeap", "_memory", offsetof(Heap, low));
  tables.field("CodeHeap", "_segmap", offsetof(Heap, segments));
  tables.field("CodeHeap", "_log2_segment_size", offsetof(Heap, shift));
  tables.field("VirtualSpace", "_low_boundary", 0);
  tables.field("VirtualSpace", "_high_boundary", sizeof(void*));
  tables.static_field("CodeCache", "_heap", &heap_at_);
  tables.type("HeapBlock", kHeader);
  tables.flag("UseG1GC", uint8_t{1});
}

// A local variable of the test: the walk wants the frames above its own.
struct Program {
  explicit Program(uint32_t java = 17) : vm(0, java) {
    REQUIRE(vm.why == nullptr);
    hide();
  }
  void hide() {
    const uint64_t probe = FakeVm::kProbe;
    vm.begin();
    vm.compiled(native + 200, 6);
    vm.end();
    REQUIRE(vm.hide(&probe));
  }
  FakeVm vm;
  uint64_t native = vm.add_blob("native nmethod", 1024, 6, FakeVm::kProbe, 1);
  uint64_t first = vm.add_blob("nmethod", 40000, 10, 0x1000, 2);
  uint64_t second = vm.add_blob("nmethod", 2048, 4, 0x2000, 3);
  uint64_t stub = vm.add_blob("RuntimeStub", 512, 4, 0, 0);

  void build(uint64_t pc, uint64_t bcp, uint64_t last_bcp = 0x77) {
    vm.begin();
    vm.compiled(native + 200, 6);
    vm.compiled(pc, 10);
    vm.interpreted(0x3000, bcp);
    vm.compiled(second + 300, 4);
    vm.interpreted(0x4000, last_bcp);
    vm.end();
  }
  uint64_t run(uint64_t pc, uint64_t bcp, uint32_t depth, SeenCode* seen = nullptr,
               uint64_t last_bcp = 0x77) {
    build(pc, bcp, last_bcp);
    return vm.key(depth, seen);
  }
};

}  // namespace

TEST_CASE("frames that are the same give one key, others another") {
  Program program;
  const uint64_t pc = program.first + 30000;
  const uint64_t key = program.run(pc, 0x10, 4);
  REQUIRE(key != 0);
  CHECK(program.run(pc, 0x10, 4) == key);
  CHECK(program.run(pc + 8, 0x10, 4) != key);
  CHECK(program.run(pc, 0x11, 4) != key);
}

TEST_CASE("frames of probes do not count, and those below the depth do not matter") {
  Program program;
  const uint64_t pc = program.first + 500;
  // Counted are the compiled frame, two interpreted ones and the compiled one between them.
  CHECK(program.run(pc, 0x10, 3, nullptr, 0x77) == program.run(pc, 0x10, 3, nullptr, 0x78));
  CHECK(program.run(pc, 0x10, 4, nullptr, 0x77) != program.run(pc, 0x10, 4, nullptr, 0x78));
  CHECK(program.run(pc, 0x10, 1, nullptr, 0x77) == program.run(pc, 0x11, 1, nullptr, 0x77));
}

TEST_CASE("a stack that ends before the depth has a key") {
  Program program;
  CHECK(program.run(program.first + 500, 0x10, 100) != 0);
}

TEST_CASE("the same place in another compilation is another frame, whatever was remembered") {
  Program program;
  SeenCode seen = {};
  const uint64_t pc = program.first + 500;
  const uint64_t key = program.run(pc, 0x10, 4);
  CHECK(program.run(pc, 0x10, 4, &seen) == key);
  CHECK(program.run(pc, 0x10, 4, &seen) == key);
  program.vm.compile_again(program.first, 9, 10);
  const uint64_t other = program.run(pc, 0x10, 4, &seen);
  CHECK(other != 0);
  CHECK(other != key);
  CHECK(program.run(pc, 0x10, 4) == other);
}

TEST_CASE("within an epoch of trust code is looked at once") {
  Program program(20);
  SeenCode seen = {};
  uint32_t epoch = 1;
  program.vm.walk.trust_code(&epoch);
  const uint64_t pc = program.first + 500;
  const uint64_t key = program.run(pc, 0x10, 4, &seen);
  program.vm.compile_again(program.first, 9, 10);
  CHECK(program.run(pc, 0x10, 4, &seen) == key);
  CHECK(program.run(pc, 0x10, 4) != key);
  epoch = 2;
  const uint64_t other = program.run(pc, 0x10, 4, &seen);
  CHECK(other != key);
  CHECK(program.run(pc, 0x10, 4) == other);
  epoch = 0;  // which is no epoch
  program.vm.compile_again(program.first, 10, 10);
  CHECK(program.run(pc, 0x10, 4, &seen) != other);
}

TEST_CASE("what is not known has no key") {
  Program program;
  CHECK(program.run(program.first + 40000 - 32, 0x10, 4) == 0);  // behind the code: about to be deoptimized
  CHECK(program.run(program.stub + 64, 0x10, 4) == 0);
  CHECK(program.run(0x1234, 0x10, 4) == 0);
  CHECK(program.run(program.first + 500, 0x10, 4) != 0);
}

TEST_CASE("a frame that does not end on the stack has no key") {
  Program program;
  program.vm.compile_again(program.first, 2, 100000);
  CHECK(program.run(program.first + 500, 0x10, 4) == 0);
  program.vm.compile_again(program.first, 2, -3);
  CHECK(program.run(program.first + 500, 0x10, 4) == 0);
  program.vm.compile_again(program.first, 2, 1);
  CHECK(program.run(program.first + 500, 0x10, 4) == 0);
}

// 0x3000 and 0x4000 are interpreted, 0x1000 and 0x2000 compiled; others are inlined in these.
TEST_CASE("a compiled frame stands for what was inlined there, once that is learned") {
  Program program;
  SeenCode seen = {};
  const uint64_t pc = program.first + 500;
  const uint64_t before = program.run(pc, 0x10, 4, &seen, 0x77);
  CHECK(before != program.run(pc, 0x10, 4, &seen, 0x78));
  program.vm.learn({0x1, 0x2, 0x1000, 0x3000}, &seen);
  CHECK(program.run(pc, 0x10, 3, &seen) == program.run(pc, 0x11, 3, &seen));
  CHECK(program.run(pc, 0x10, 4, &seen) != program.run(pc, 0x11, 4, &seen));
  const uint64_t after = program.run(pc, 0x10, 4, &seen, 0x77);
  CHECK(after == program.run(pc, 0x10, 4, &seen, 0x78));
  SUBCASE("in that compilation only") {
    program.vm.compile_again(program.first, 9, 10);
    CHECK(program.run(pc, 0x10, 4, &seen, 0x77) != program.run(pc, 0x10, 4, &seen, 0x78));
  }
  SUBCASE("further out, too") {
    program.vm.learn({0x1, 0x2, 0x1000, 0x3000, 0x5, 0x2000, 0x4000}, &seen);
    CHECK(program.run(pc, 0x10, 6, &seen, 0x77) == program.run(pc, 0x10, 6, &seen, 0x78));
    CHECK(program.run(pc, 0x10, 7, &seen, 0x77) != program.run(pc, 0x10, 7, &seen, 0x78));
  }
}

TEST_CASE("where a compiled frame ends is not learned from stacks that leave it open") {
  Program program;
  SeenCode seen = {};
  const uint64_t pc = program.first + 500;
  program.build(pc, 0x10);
  const auto covers = [&](uint32_t depth) {
    return program.run(pc, 0x10, depth, &seen) == program.run(pc, 0x11, depth, &seen);
  };
  SUBCASE("its method is not among those told") {
    CHECK(program.vm.learn({0x1, 0x2, 0x3, 0x4}, &seen));
    CHECK(covers(1));
    CHECK_FALSE(covers(2));
    CHECK_FALSE(program.vm.learn({0x1, 0x2, 0x3, 0x4, 0x1000, 0x3000}, &seen));
    CHECK(covers(5));
    CHECK_FALSE(program.vm.learn({0x1, 0x2, 0x3, 0x4}, &seen));  // as many are known to be there
  }
  SUBCASE("its method calls itself: the first is there in any case") {
    program.vm.learn({0x1, 0x1000, 0x2, 0x1000, 0x3000}, &seen);
    CHECK(covers(2));
    CHECK_FALSE(covers(3));
  }
  SUBCASE("what is known is not given up for less") {
    program.vm.learn({0x1, 0x2, 0x1000}, &seen);
    program.vm.learn({0x1000}, &seen);
    CHECK(covers(3));
    CHECK_FALSE(covers(4));
  }
}

TEST_CASE("VMs that free code at any time have no epochs of trust") {
  Program program(17);
  SeenCode seen = {};
  uint32_t epoch = 1;
  program.vm.walk.trust_code(&epoch);
  const uint64_t pc = program.first + 500;
  const uint64_t key = program.run(pc, 0x10, 4, &seen);
  program.vm.compile_again(program.first, 9, 10);
  CHECK(program.run(pc, 0x10, 4, &seen) != key);
}

TEST_CASE("the method that native code has called is hidden") {
  Program program;
  const uint64_t pc = program.first + 500;
  const auto counts_last = [&] {
    return program.run(pc, 0x10, 4, nullptr, 0x77) != program.run(pc, 0x10, 4, nullptr, 0x78);
  };
  CHECK(counts_last());
  CHECK(program.run(pc, 0x10, 3) == program.run(pc, 0x10, 3, nullptr, 0x78));
  const uint64_t method = 0x2000;  // of the compiled frame between the interpreted ones
  program.vm.begin();
  program.vm.compiled(program.native + 200, 6);
  program.vm.compiled(program.second + 300, 4);
  program.vm.end();
  REQUIRE(program.vm.hide(&method));
  CHECK(program.run(pc, 0x10, 3) != program.run(pc, 0x10, 3, nullptr, 0x78));
}

TEST_CASE("where method ids do not point to methods nothing is learned") {
  Program program;
  SeenCode seen = {};
  const uint64_t pc = program.first + 500;
  SUBCASE("they do") {}
  SUBCASE("one does not") {
    const uint64_t other = 0x1230;
    program.vm.begin();
    program.vm.compiled(program.native + 200, 6);
    program.vm.end();
    REQUIRE(program.vm.hide(&other));
    CHECK(program.vm.tables.has_said(
        "hotspot: method-pointers is not used: method ids do not point to methods"));
  }
  const bool do_they =
      !program.vm.tables.has_said("hotspot: method-pointers is not used: method ids do not point to methods");
  program.run(pc, 0x10, 4, &seen);
  program.vm.learn({0x1, 0x2, 0x1000, 0x3000}, &seen);
  CHECK((program.run(pc, 0x10, 3, &seen) == program.run(pc, 0x11, 3, &seen)) == do_they);
}

TEST_CASE("memory that is not there ends the walk, not the process") {
  Program program;
  const uint64_t pc = program.first + 500;
  REQUIRE(program.run(pc, 0x10, 4) != 0);
  SUBCASE("the name of code") {
    // Of no known kind, so its name is read.
    const uint64_t odd = program.vm.add_blob(reinterpret_cast<const char*>(uintptr_t{4096}), 512, 4, 0, 7);
    CHECK(program.run(odd + 64, 0x10, 4) == 0);
  }
  SUBCASE("the anchor behind native code") {
    program.vm.begin();
    program.vm.compiled(program.native + 200, 6);
    program.vm.end(reinterpret_cast<const void*>(uintptr_t{4096}));
    CHECK(program.vm.key(4) == 0);
  }
  SUBCASE("a method id") {
    SeenCode seen = {};
    const hprof_raw_frame frame = {reinterpret_cast<void*>(uintptr_t{4096}), 0};
    program.build(pc, 0x10);
    program.vm.learn_raw(&frame, &seen);
  }
  CHECK(program.vm.tables.has_said("hotspot: frame-walk is not used: it read memory that is not there"));
  CHECK(program.run(pc, 0x10, 4) == 0);
}

namespace {

struct Chained : Program {
  explicit Chained(uint32_t java = 17) : Program(java) {}
  // The key by chains, which is that of the walk. A note is new, or that of this key and this number.
  uint64_t key(uint32_t depth = 4, uint64_t what = 5) {
    const uint64_t walked = vm.key(depth, &seen);
    CHECK(vm.key(depth, &seen, chains.get(), what) == walked);
    auto* note = static_cast<uint64_t*>(vm.of_walk.note);
    is_noted = note != nullptr && note[0] != 0;
    if (is_noted) CHECK((note[0] == walked && note[1] == depth && note[2] == what));
    if (note != nullptr && !is_noted) {
      note[0] = walked;
      note[1] = depth;
      note[2] = what;
    }
    return walked;
  }
  uint32_t kept() const {
    uint32_t count = 0;
    for (const StackChains::Set& set : chains->sets) {
      for (const uint64_t tag : set.tags) count += tag != 0 ? 1 : 0;
    }
    return count;
  }
  SeenCode seen = {};
  std::unique_ptr<StackChains> chains = std::make_unique<StackChains>();
  bool is_noted = false;  // this stack, before
};

}  // namespace

TEST_CASE("a chain stands for one stack only") {
  Chained program;
  const uint64_t pc = program.first + 500;
  program.build(pc, 0x10);
  const uint64_t key = program.key();
  CHECK(program.kept() == 1);
  CHECK(program.key() == key);
  CHECK(program.kept() == 1);
  program.build(pc + 8, 0x10);  // another return address in the same code
  CHECK(program.key() != key);
  program.build(pc, 0x11);  // another place in an interpreted method
  CHECK(program.key() != key);
  program.build(pc, 0x10, 0x78);  // further out
  CHECK(program.key() != key);
  CHECK(program.kept() == 4);
  program.build(pc, 0x10);
  CHECK(program.key(3) != key);  // less of it
  CHECK(program.key() == key);
  CHECK(program.kept() == 5);
}

TEST_CASE("a note comes again with its stack, depth and number") {
  Chained program;
  const uint64_t pc = program.first + 500;
  const auto is_noted = [&](uint64_t at, uint32_t depth, uint64_t what) {
    program.build(at, 0x10);
    program.key(depth, what);
    return program.is_noted;
  };
  CHECK_FALSE(is_noted(pc, 4, 5));
  CHECK(is_noted(pc, 4, 5));
  CHECK_FALSE(is_noted(pc, 4, 6));
  CHECK_FALSE(is_noted(pc, 3, 5));
  CHECK_FALSE(is_noted(pc + 8, 4, 5));
  CHECK(is_noted(pc, 4, 6));
  CHECK(is_noted(pc, 4, 5));
  CHECK(program.kept() == 4);
  CHECK(program.vm.key(4, &program.seen) != 0);
  CHECK(program.vm.of_walk.note == nullptr);  // there are no chains
}

TEST_CASE("a chain of more frames than are needed is forgotten") {
  Chained program;
  const uint64_t pc = program.first + 500;
  program.build(pc, 0x10);
  program.key();
  REQUIRE(program.kept() == 1);
  CHECK_FALSE(program.vm.learn({0x1, 0x2, 0x1000, 0x3000}, &program.seen));
  CHECK(program.kept() == 0);
  CHECK(program.vm.of_walk.note == nullptr);
  program.key();
  CHECK_FALSE(program.is_noted);
  CHECK_FALSE(program.vm.learn({0x1, 0x2, 0x1000, 0x3000}, &program.seen));  // nothing new
  CHECK(program.kept() == 1);
}

TEST_CASE("chains with one tag are told apart by another of their words") {
  Chained program;
  const uint64_t pc = program.first + 500;
  for (uint32_t round = 0; round < 3; round++) {
    for (uint64_t bytecode = 0x10; bytecode < 0x14; bytecode++) {
      program.build(pc, bytecode);
      program.key();
      CHECK(program.is_noted == (round != 0));
    }
  }
  uint32_t seconds = 0;
  for (const StackChains::Set& set : program.chains->sets) {
    for (const uint32_t second : set.seconds) seconds += second != 0 ? 1 : 0;
  }
  CHECK(seconds == 4);
}

TEST_CASE("a chain ends with the compilation of one of its frames") {
  Chained program;
  const uint64_t pc = program.first + 500;
  program.build(pc, 0x10);
  const uint64_t key = program.key();
  program.vm.compile_again(program.second, 9, 4);
  CHECK(program.key() != key);
  program.vm.compile_again(program.second, 3, 4);
  CHECK(program.key() == key);
}

TEST_CASE("what lies in the place of code that went is no compilation, whatever its number") {
  Chained program;
  const uint64_t pc = program.first + 500;
  program.build(pc, 0x10);
  REQUIRE(program.key() != 0);
  program.vm.rename(program.first, "BufferBlob");
  CHECK(program.vm.key(4, &program.seen, program.chains.get()) == 0);
}

TEST_CASE("within an epoch of trust a chain looks at its code once") {
  Chained program(20);
  uint32_t epoch = 1;
  program.vm.walk.trust_code(&epoch);
  program.build(program.first + 500, 0x10);
  const uint64_t key = program.key();
  program.vm.compile_again(program.first, 9, 10);
  CHECK(program.key() == key);
  epoch = 2;
  CHECK(program.key() != key);
}

TEST_CASE("chains of many stacks are right, whether they fit or not") {
  Chained program;
  uint32_t random = 12345, noted = 0;
  const auto below = [&](uint32_t bound) {
    return (random = random * 1664525u + 1013904223u) / 65536 % bound;
  };
  for (uint32_t round = 0; round < 20000; round++) {
    program.vm.begin();
    program.vm.compiled(program.native + 200, 6);
    const uint32_t frames = 1 + below(12);  // more than a chain has room for
    for (uint32_t i = 0; i < frames; i++) {
      if (below(3) == 0) {
        program.vm.interpreted(0x3000 + below(2), 0x10 + below(3));
      } else if (below(2) == 0) {
        program.vm.compiled(program.first + 500 + 8 * below(3), 10);
      } else {
        program.vm.compiled(program.second + 300, 4);
      }
    }
    program.vm.end();
    REQUIRE(program.key(1 + below(10), 1 + below(2)) != 0);
    noted += program.is_noted ? 1 : 0;
  }
  CHECK(program.kept() > 100);
  CHECK(noted > 100);
}

TEST_CASE("a walk that is distrusted has no keys any more") {
  Program program;
  program.vm.walk.distrust("one was wrong");
  program.vm.walk.distrust("another one, too");
  CHECK(program.run(program.first + 500, 0x10, 4) == 0);
  CHECK(program.vm.tables.said.back() == "hotspot: frame-walk is not used: one was wrong");
}

TEST_CASE("without one of the tables' rows, or the code heap, there is no walk") {
  FakeVm without_heap(bit_of(Item::kCodeHeap));
  CHECK(std::string(without_heap.why) == "the code heap is not known");
  FakeVm without_tables(bit_of(Item::kVmStructs));
  CHECK(without_tables.why != nullptr);
}
