#include "plugins/heap_sites/frame_walk.h"

#include <cstring>
#include <doctest/doctest.h>
#include <vector>

using namespace hprof::sites;

namespace {

// A thread, its stack and a heap of code as HotSpot has them, in memory of the test's own.
class FakeVm {
 public:
  static constexpr uint32_t kSegmentShift = 7;
  static constexpr uint64_t kHeader = 16, kName = 8, kSize = 16, kFrameSize = 24, kMethod = 32, kId = 40,
                            kStub = 44;

  FakeVm() : code_(64 * 1024), segments_(code_.size() >> kSegmentShift, 255) {
    WalkLayout& layout = walk.layout();
    layout.heaps[0] = {address(code_.data()), address(code_.data()) + code_.size(), address(segments_.data()),
                       kSegmentShift};
    layout.heap_count = 1;
    layout.call_stub_return = 0x5555;
    layout.anchor_from_env = 8;
    layout.stack_base_from_env = 32;
    layout.last_sp = 0;
    layout.last_pc = 8;
    layout.last_fp = 16;
    layout.block_header = kHeader;
    layout.blob_name = kName;
    layout.blob_size = kSize;
    layout.blob_frame_size = kFrameSize;
    layout.method_of_code = kMethod;
    layout.compile_id = kId;
    layout.stub_offset = kStub;
    layout.probes[0] = kProbe;
    interpreter = add_blob("Interpreter", 4096, 0, 0, 0);
  }

  static constexpr uint64_t kProbe = 0x99990;

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

  // The stack, from its innermost frame on.
  void begin() {
    at_ = 16;
    anchor_.sp = address(&stack_[at_]);
    anchor_.base = address(stack_ + kStack);
  }
  // pc is where the frame is; the return address of the frame before it, or the anchor's.
  void enter(uint64_t pc) { return_to_ ? * return_to_ = pc : anchor_.pc = pc; }
  void compiled(uint64_t pc, uint32_t words) {
    enter(pc);
    at_ += words;
    return_to_ = &stack_[at_ - 1];
    saved_fp_ = &stack_[at_ - 2];
  }
  void interpreted(uint64_t method, uint64_t bcp) {
    enter(interpreter + 100);
    uint64_t fp = at_ + 10;
    saved_fp_ ? * saved_fp_ = address(&stack_[fp]) : anchor_.fp = address(&stack_[fp]);
    stack_[fp - 3] = method;
    stack_[fp - 8] = bcp;
    at_ = fp + 2;
    stack_[fp - 1] = address(&stack_[at_]);
    return_to_ = &stack_[fp + 1];
    saved_fp_ = &stack_[fp];
  }
  void end() {
    enter(0x5555);
    uint64_t fp = at_ + 10;
    *saved_fp_ = address(&stack_[fp]);
    wrapper_ = {};
    stack_[fp - 6] = address(&wrapper_);
    return_to_ = saved_fp_ = nullptr;
  }
  uint64_t key(uint32_t depth, CodeCache* cache = nullptr) { return walk.key(&anchor_, depth, cache); }
  void learn(const std::vector<uint64_t>& methods, CodeCache* cache) {
    walk.learn(&anchor_, methods.data(), static_cast<uint32_t>(methods.size()), cache);
  }
  uint64_t called() { return walk.called_method(&anchor_); }

  FrameWalk walk;
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
  struct Anchor {
    uint64_t pad, sp, pc, fp, base;
  };
  std::vector<uint8_t> code_, segments_;
  static constexpr uint32_t kStack = 1024;
  uint64_t stack_[kStack] = {};
  Anchor anchor_ = {};
  struct {
    uint64_t sp, pc, fp;
  } wrapper_ = {};
  uint64_t next_ = 0, at_ = 0;
  uint64_t* return_to_ = nullptr;
  uint64_t* saved_fp_ = nullptr;
};

// A local variable of the test: the walk wants the frames above its own.
struct Program {
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
  uint64_t run(uint64_t pc, uint64_t bcp, uint32_t depth, CodeCache* cache = nullptr,
               uint64_t last_bcp = 0x77) {
    build(pc, bcp, last_bcp);
    return vm.key(depth, cache);
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
  CodeCache cache = {};
  const uint64_t pc = program.first + 500;
  const uint64_t key = program.run(pc, 0x10, 4);
  CHECK(program.run(pc, 0x10, 4, &cache) == key);
  CHECK(program.run(pc, 0x10, 4, &cache) == key);
  program.vm.compile_again(program.first, 9, 10);
  const uint64_t other = program.run(pc, 0x10, 4, &cache);
  CHECK(other != 0);
  CHECK(other != key);
  CHECK(program.run(pc, 0x10, 4) == other);
}

TEST_CASE("within an epoch of trust code is looked at once") {
  Program program;
  CodeCache cache = {};
  std::atomic<uint32_t> epoch{1};
  program.vm.walk.trust_code(&epoch);
  const uint64_t pc = program.first + 500;
  const uint64_t key = program.run(pc, 0x10, 4, &cache);
  program.vm.compile_again(program.first, 9, 10);
  CHECK(program.run(pc, 0x10, 4, &cache) == key);
  CHECK(program.run(pc, 0x10, 4) != key);
  epoch = 2;
  const uint64_t other = program.run(pc, 0x10, 4, &cache);
  CHECK(other != key);
  CHECK(program.run(pc, 0x10, 4) == other);
  epoch = 0;  // which is no epoch
  program.vm.compile_again(program.first, 10, 10);
  CHECK(program.run(pc, 0x10, 4, &cache) != other);
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
  CodeCache cache = {};
  const uint64_t pc = program.first + 500;
  const uint64_t before = program.run(pc, 0x10, 4, &cache, 0x77);
  CHECK(before != program.run(pc, 0x10, 4, &cache, 0x78));
  program.vm.learn({0x1, 0x2, 0x1000, 0x3000}, &cache);
  CHECK(program.run(pc, 0x10, 3, &cache) == program.run(pc, 0x11, 3, &cache));
  CHECK(program.run(pc, 0x10, 4, &cache) != program.run(pc, 0x11, 4, &cache));
  const uint64_t after = program.run(pc, 0x10, 4, &cache, 0x77);
  CHECK(after == program.run(pc, 0x10, 4, &cache, 0x78));
  SUBCASE("in that compilation only") {
    program.vm.compile_again(program.first, 9, 10);
    CHECK(program.run(pc, 0x10, 4, &cache, 0x77) != program.run(pc, 0x10, 4, &cache, 0x78));
  }
  SUBCASE("further out, too") {
    program.vm.learn({0x1, 0x2, 0x1000, 0x3000, 0x5, 0x2000, 0x4000}, &cache);
    CHECK(program.run(pc, 0x10, 6, &cache, 0x77) == program.run(pc, 0x10, 6, &cache, 0x78));
    CHECK(program.run(pc, 0x10, 7, &cache, 0x77) != program.run(pc, 0x10, 7, &cache, 0x78));
  }
}

TEST_CASE("where a compiled frame ends is not learned from stacks that leave it open") {
  Program program;
  CodeCache cache = {};
  const uint64_t pc = program.first + 500;
  program.build(pc, 0x10);
  const auto covers = [&](uint32_t depth) {
    return program.run(pc, 0x10, depth, &cache) == program.run(pc, 0x11, depth, &cache);
  };
  SUBCASE("its method is not among those told") {
    program.vm.learn({0x1, 0x2, 0x3, 0x4}, &cache);
    CHECK(covers(1));
    CHECK_FALSE(covers(2));
  }
  SUBCASE("its method calls itself: the first is there in any case") {
    program.vm.learn({0x1, 0x1000, 0x2, 0x1000, 0x3000}, &cache);
    CHECK(covers(2));
    CHECK_FALSE(covers(3));
  }
  SUBCASE("what is known is not given up for less") {
    program.vm.learn({0x1, 0x2, 0x1000}, &cache);
    program.vm.learn({0x1000}, &cache);
    CHECK(covers(3));
    CHECK_FALSE(covers(4));
  }
}

TEST_CASE("the method that native code has called is that of the last frame") {
  Program program;
  program.build(program.first + 500, 0x10);
  CHECK(program.vm.called() == 0x4000);
}
