#include "core/modules/hotspot/stack_chains.h"

#include "tests/unit/hotspot/fake_stack.h"

using namespace hprof;
using namespace hprof::test;

namespace {

struct Chained : Program {
  explicit Chained(uint32_t java = 17) : Program(java) {}
  // The key by chains, which is that of the walk. Its data are new, or those of this key and this number.
  uint64_t key(uint32_t depth = 4, uint64_t what = 5) {
    const uint64_t walked = vm.key(depth, &seen);
    CHECK(vm.key(depth, &seen, chains.get(), what) == walked);
    auto* data = static_cast<uint64_t*>(vm.of_walk.data);
    has_data = data != nullptr && data[0] != 0;
    if (has_data) CHECK((data[0] == walked && data[1] == depth && data[2] == what));
    if (data != nullptr && !has_data) {
      data[0] = walked;
      data[1] = depth;
      data[2] = what;
    }
    return walked;
  }
  SeenCode seen = {};
  std::unique_ptr<StackChains> chains = std::make_unique<StackChains>();
  bool has_data = false;  // this stack, from before
};

}  // namespace

TEST_CASE("a chain of more frames than are needed is forgotten") {
  Chained program;
  const uint64_t pc = program.first + 500;
  program.build(pc, 0x10);
  program.key();
  program.key();
  REQUIRE(program.has_data);
  CHECK_FALSE(program.vm.learn({0x1, 0x2, 0x1000, 0x3000}, &program.seen));
  CHECK(program.vm.of_walk.data == nullptr);
  program.key();
  CHECK_FALSE(program.has_data);
  CHECK_FALSE(program.vm.learn({0x1, 0x2, 0x1000, 0x3000}, &program.seen));  // nothing new
  program.key();
  CHECK(program.has_data);
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
    noted += program.has_data ? 1 : 0;
  }
  CHECK(noted > 100);
}
