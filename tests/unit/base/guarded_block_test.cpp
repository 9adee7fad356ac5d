// Blocks with guards: what is written behind one shows, and so does what was never one.
#include "core/base/guarded_block.h"

#include <cstring>
#include <doctest/doctest.h>
#include <initializer_list>

using namespace hprof;

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
