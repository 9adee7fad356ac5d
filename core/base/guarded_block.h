// Blocks of memory that know how large they are, whose they are, and whether somebody wrote behind them: what
// units get in builds with checks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof {

// Bytes that a block needs more than its owner asks for.
constexpr uint64_t kGuardedBlockMore = 48;
constexpr uint8_t kGuardByte = 0xa5;

// Are all of them untouched? [any]
bool is_guard_intact(const void* guard, size_t bytes);
void lay_guard(void* guard, size_t bytes);

// Makes one of `block`, which is aligned to 16 and has bytes + kGuardedBlockMore; returns what its owner
// gets, aligned to 16, too.
void* guard_block(void* block, uint64_t bytes, const void* owner);

struct GuardedBlock {
  void* block;        // as it was given to guard_block; nullptr: `memory` is none of those
  uint64_t bytes;     // as its owner asked for
  const void* owner;  // who that was
  bool is_intact;     // nothing was written right behind it
};
GuardedBlock guarded_block_of(void* memory);

}  // namespace hprof
