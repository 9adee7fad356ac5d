#include "core/modules/hotspot/frame_walk.h"

#include "tests/unit/hotspot/fake_stack.h"

using namespace hprof;
using namespace hprof::test;

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

TEST_CASE("a walk that is distrusted has no keys any more") {
  Program program;
  program.vm.walk.distrust("one was wrong");
  program.vm.walk.distrust("another one, too");
  CHECK(program.run(program.first + 500, 0x10, 4) == 0);
  CHECK(program.vm.tables.said.back() == "hotspot: frame-walk is not used: one was wrong");
}

TEST_CASE("without one of the tables' rows, or the code heap, there is no walk") {
  FakeStack without_heap(bit_of(Item::kCodeHeap));
  CHECK(std::string(without_heap.why) == "the code heap is not known");
  FakeStack without_tables(bit_of(Item::kVmStructs));
  CHECK(without_tables.why != nullptr);
}

TEST_CASE("return addresses that may be signed are not read") {
  CHECK(FakeStack(0, 17, "none").why == nullptr);
  const FakeStack vm(0, 17, "pac-ret");
  if (FrameSlots::kMayBeSigned) {
    CHECK(std::string(vm.why) == "return addresses are signed (UseBranchProtection)");
  } else {
    CHECK(vm.why == nullptr);
  }
}

TEST_CASE("the bytecode pointer of Java 8 has a slot of its own") {
  Program program(8);
  const uint64_t pc = program.first + 500;
  CHECK(program.run(pc, 0x10, 4) != 0);
  CHECK(program.run(pc, 0x10, 4) != program.run(pc, 0x11, 4));
}

TEST_CASE("an interpreted frame may begin within that of an interpreted caller" *
          doctest::skip(!FrameSlots::kOverlap)) {
  Program program;
  SeenCode seen = {};
  auto chains = std::make_unique<StackChains>();
  const auto run = [&](uint64_t caller, uint64_t bcp, uint32_t overlap) {
    program.vm.begin();
    program.vm.compiled(program.native + 200, 6);
    program.vm.compiled(program.first + 500, 10);
    program.vm.interpreted(0x3000, 0x10, overlap);
    if (caller != 0) {
      program.vm.interpreted(caller, bcp);
    } else {
      program.vm.compiled(program.second + 300, 4);
    }
    program.vm.interpreted(0x5000, 0x30);
    program.vm.end();
    const uint64_t walked = program.vm.key(4);
    CHECK(program.vm.key(4, &seen, chains.get(), 1) == walked);
    return walked;
  };
  const uint64_t key = run(0x4000, 0x20, 5);
  CHECK(key != 0);
  CHECK(run(0x4000, 0x20, 5) == key);
  CHECK(program.vm.of_walk.data != nullptr);
  CHECK(run(0x4000, 0x20, 0) == key);
  CHECK(run(0x4000, 0x20, 100) == key);
  CHECK(run(0x4000, 0x21, 5) != key);
  CHECK(run(0x4100, 0x20, 5) != key);
  CHECK(run(0, 0, 0) != 0);
  CHECK(run(0, 0, 5) == 0);  // the place of a compiled caller follows from where it ends
}
