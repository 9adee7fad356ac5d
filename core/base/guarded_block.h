// Memory blocks for units in builds with checks: they record their size and owner, and show writes past their
// end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof {

// Bytes that a block takes beyond what its owner requests.
constexpr uint64_t kGuardedBlockMore = 48;
constexpr uint8_t kGuardByte = 0xa5;

// True: no byte of the guard was overwritten. [any]
bool is_guard_intact(const void* guard, size_t bytes);
void lay_guard(void* guard, size_t bytes);

// Makes a guarded block of `block`, which is aligned to 16 and has bytes + kGuardedBlockMore; returns the
// owner's part, aligned to 16.
void* guard_block(void* block, uint64_t bytes, const void* owner);

struct GuardedBlock {
  void* block;     // as passed to guard_block; nullptr: `memory` is no such block
  uint64_t bytes;  // as requested
  const void* owner;
  bool is_intact;  // nothing was written after it
};
GuardedBlock guarded_block_of(void* memory);

}  // namespace hprof
