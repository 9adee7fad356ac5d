// Accounted memory, regions and bump storage: budgets hold, everything is given back.
#include <cstring>
#include <doctest/doctest.h>
#include <initializer_list>
#include <set>

#include "core/base/bump.h"
#include "core/base/guarded_block.h"
#include "tests/unit/base/test_memory.h"

using namespace hprof;
using hprof::test::TestMemory;

TEST_CASE("blocks are zeroed, counted, and refused beyond the budget") {
  TestMemory memory(1000);
  unsigned char* block = static_cast<unsigned char*>(memory.allocate(600));
  REQUIRE(block);
  CHECK(reinterpret_cast<uintptr_t>(block) % 16 == 0);
  for (int i = 0; i < 600; ++i) REQUIRE(block[i] == 0);
  CHECK(memory.used() == 600);
  CHECK(memory.allocate(401) == nullptr);
  CHECK(memory.used() == 600);
  void* rest = memory.allocate(400);
  CHECK(rest);
  memory.release(rest, 400);
  memory.release(block, 600);
  memory.release(nullptr, 5);
  CHECK(memory.used() == 0);
  CHECK(memory.peak() == 1000);
  CHECK(test::held_blocks == 0);
}

TEST_CASE("without a budget only the source refuses, and that costs nothing") {
  TestMemory memory;
  CHECK(memory.budget() == UINT64_MAX);
  test::out_of_blocks = true;
  CHECK(memory.allocate(10) == nullptr);
  test::out_of_blocks = false;
  CHECK(memory.used() == 0);
  CHECK(memory.charge(1));
  CHECK_FALSE(memory.charge(UINT64_MAX));
  CHECK(memory.used() == 1);
}

TEST_CASE("what was taken and given back is told once") {
  TestMemory memory(1000);
  void* held = memory.allocate(100);
  void* block = memory.allocate(300);
  memory.release(block, 300);
  CHECK(memory.forget_peak() == 300);
  CHECK(memory.forget_peak() == 0);
  CHECK(memory.peak() == 100);
  memory.release(held, 100);
}

TEST_CASE("a lifted budget refuses nothing and tells what was needed") {
  TestMemory memory(1000);
  memory.lift();
  void* block = memory.allocate(3000);
  CHECK(block);
  memory.release(block, 3000);
  CHECK(memory.settle());
  CHECK_FALSE(memory.settle());
  CHECK(memory.peak() == 3000);
  CHECK(memory.budget() == 1000);
  CHECK(memory.allocate(1001) == nullptr);
}

TEST_CASE("what is held back is for those who ask for all") {
  TestMemory memory(1000);
  memory.hold_back(100);
  CHECK(memory.allocate(901) == nullptr);
  CHECK_FALSE(memory.charge(901));
  void* block = memory.allocate(900);
  CHECK(block);
  CHECK_FALSE(memory.charge(1));
  CHECK(memory.charge(40, MemoryAccount::kAll));
  void* rest = memory.allocate(60, MemoryAccount::kAll);
  CHECK(rest);
  CHECK(memory.allocate(1, MemoryAccount::kAll) == nullptr);
  memory.release(rest, 60);
  memory.uncharge(40);
  CHECK_FALSE(memory.charge(1));
  memory.release(block, 900);
  CHECK(memory.used() == 0);
}

TEST_CASE("names have an eighth of what is held back, when the rest is used up") {
  TestMemory memory(1000);
  memory.hold_back(80);
  CHECK(memory.charge(920));
  CHECK_FALSE(memory.charge(1));
  CHECK_FALSE(memory.charge(11, MemoryAccount::kNames));
  CHECK(memory.charge(10, MemoryAccount::kNames));
  CHECK_FALSE(memory.charge(1, MemoryAccount::kNames));
  CHECK(memory.charge(70, MemoryAccount::kAll));
  CHECK_FALSE(memory.charge(1, MemoryAccount::kAll));
  memory.uncharge(1000);
}

TEST_CASE("who starts has half of what is held back, the rest is there afterwards") {
  TestMemory memory(1000);
  memory.hold_back(81);
  CHECK(memory.charge(919));
  CHECK_FALSE(memory.charge(41, MemoryAccount::kStart));
  CHECK(memory.charge(40, MemoryAccount::kStart));
  CHECK_FALSE(memory.charge(1, MemoryAccount::kStart));
  CHECK_FALSE(memory.charge(1, MemoryAccount::kNames));
  CHECK(memory.charge(41, MemoryAccount::kAll));
  memory.uncharge(1000);
}

TEST_CASE("what is kept for starts is nobody else's, and a collector that starts has its own part of it") {
  TestMemory memory(1000);
  memory.hold_back(80);
  memory.hold_for_starts(300, 0);
  CHECK(memory.charge(620));
  CHECK_FALSE(memory.charge(1));
  CHECK_FALSE(memory.charge(41, MemoryAccount::kStart));
  memory.hold_for_starts(300, 100);
  CHECK_FALSE(memory.charge(1));
  CHECK_FALSE(memory.charge(141, MemoryAccount::kStart));
  CHECK(memory.charge(140, MemoryAccount::kStart));
  CHECK(memory.charge(240, MemoryAccount::kAll));
  memory.uncharge(380);
  memory.hold_for_starts(0, 0);
  CHECK(memory.charge(300));
  CHECK_FALSE(memory.charge(1));
  memory.uncharge(920);
}

TEST_CASE("parts that take a pair of functions are accounted, too") {
  TestMemory memory(100);
  const Memory functions = memory.functions();
  void* block = functions.allocate(functions.context, 80);
  REQUIRE(block);
  CHECK(memory.used() == 80);
  CHECK(functions.allocate(functions.context, 80) == nullptr);
  functions.release(functions.context, block, 80);
  CHECK(memory.used() == 0);
}

TEST_CASE("a lazy region is charged step by step up to its size") {
  TestMemory memory(10 * Region::kChargeStep);
  Region region;
  REQUIRE(region.create(memory, 2 * Region::kChargeStep + 100, Backing::kLazy));
  CHECK(memory.used() == 0);
  CHECK(region.cover(0));
  CHECK(memory.used() == 0);
  CHECK(region.cover(1));
  CHECK(memory.used() == Region::kChargeStep);
  CHECK(region.cover(Region::kChargeStep));
  CHECK(memory.used() == Region::kChargeStep);
  CHECK(region.cover(2 * Region::kChargeStep + 100));
  CHECK(memory.used() == 2 * Region::kChargeStep + 100);
  CHECK_FALSE(region.cover(2 * Region::kChargeStep + 101));
  region.destroy();
  CHECK(memory.used() == 0);
  CHECK(test::held_regions == 0);
}

TEST_CASE("a region beyond the budget keeps what it has") {
  TestMemory memory(Region::kChargeStep + 10);
  Region region;
  REQUIRE(region.create(memory, 4 * Region::kChargeStep, Backing::kLazy));
  CHECK(region.cover(Region::kChargeStep));
  CHECK_FALSE(region.cover(Region::kChargeStep + 1));
  CHECK(region.cover(Region::kChargeStep));
  CHECK(memory.used() == Region::kChargeStep);
  region.destroy();
  CHECK(memory.used() == 0);
}

TEST_CASE("a fixed region is charged at once or not made") {
  TestMemory memory(1000);
  Region region;
  CHECK_FALSE(region.create(memory, 1001, Backing::kFixed));
  CHECK(memory.used() == 0);
  REQUIRE(region.create(memory, 1000, Backing::kFixed));
  CHECK(memory.used() == 1000);
  CHECK(region.cover(1000));
  CHECK_FALSE(region.cover(1001));
  region.destroy();
  region.destroy();
  CHECK(memory.used() == 0);
  CHECK(test::held_blocks == 0);
}

TEST_CASE("bump storage aligns, packs, and ends with nullptr") {
  TestMemory memory;
  Bump bump;
  REQUIRE(bump.create(memory, 64, Backing::kLazy));
  char* first = static_cast<char*>(bump.allocate(3, 1));
  char* second = static_cast<char*>(bump.allocate(1, 1));
  char* third = static_cast<char*>(bump.allocate(8));
  char* fourth = static_cast<char*>(bump.allocate(1, 16));
  CHECK(second == first + 3);
  CHECK(third == first + 8);
  CHECK(fourth == first + 16);
  CHECK(bump.allocate(48, 1) == nullptr);
  CHECK(bump.allocate(UINT64_MAX, 1) == nullptr);
  CHECK(bump.allocate(47, 1) == first + 17);
  CHECK(bump.allocate(1, 1) == nullptr);
  bump.destroy();
}

TEST_CASE("the last block can be given back, others stay") {
  TestMemory memory;
  Bump bump;
  REQUIRE(bump.create(memory, 64, Backing::kLazy));
  void* first = bump.allocate(16);
  void* second = bump.allocate(16);
  bump.give_back(first, 16);
  void* third = bump.allocate(16);
  CHECK(third == static_cast<char*>(second) + 16);
  bump.give_back(third, 16);
  bump.give_back(second, 16);
  CHECK(bump.allocate(16) == second);
  bump.destroy();
}

TEST_CASE("bump blocks of many threads do not overlap, and the budget holds to the byte") {
  constexpr uint64_t kBudget = 5 * Region::kChargeStep;
  TestMemory memory(kBudget);
  Bump bump;
  REQUIRE(bump.create(memory, 64 * Region::kChargeStep, Backing::kLazy));
  std::vector<unsigned char*> blocks[8];
  test::run_threads(8, [&](int who) {
    while (unsigned char* block = static_cast<unsigned char*>(bump.allocate(24, 8))) {
      memset(block, who + 1, 24);
      blocks[who].push_back(block);
    }
  });
  size_t count = 0;
  for (int who = 0; who < 8; ++who) {
    for (unsigned char* block : blocks[who]) {
      ++count;
      for (int i = 0; i < 24; ++i) REQUIRE(block[i] == who + 1);
    }
  }
  CHECK(count == kBudget / 24);
  CHECK(memory.used() == kBudget);
  CHECK(memory.peak() == kBudget);
  bump.destroy();
  CHECK(memory.used() == 0);
}

TEST_CASE("a block knows its size and owner, and that nothing was written behind it") {
  for (const uint64_t bytes : {0u, 1u, 16u, 100u}) {
    alignas(16) unsigned char room[200] = {};
    const int owner = 0;
    auto* memory = static_cast<unsigned char*>(guard_block(room, bytes, &owner));
    CHECK(reinterpret_cast<uintptr_t>(memory) % 16 == 0);
    CHECK(memory + bytes <= room + bytes + kGuardedBlockMore);
    memset(memory, 0xff, bytes);
    const GuardedBlock block = guarded_block_of(memory);
    CHECK(block.block == room);
    CHECK(block.bytes == bytes);
    CHECK(block.owner == &owner);
    CHECK(block.is_intact);
    CHECK(guarded_block_of(memory).block == nullptr);  // a second time
  }
}

TEST_CASE("a byte behind a block is noticed") {
  alignas(16) unsigned char room[200] = {};
  auto* memory = static_cast<unsigned char*>(guard_block(room, 100, nullptr));
  memory[100] = 0;
  CHECK(!guarded_block_of(memory).is_intact);
  CHECK(guarded_block_of(memory + 32).block == nullptr);
}
