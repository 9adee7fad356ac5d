#include "core/agent/session/quarantine.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "core/agent/session/session_block.h"

namespace hprof {

namespace {

constexpr int64_t kQuarantineNs = 60 * platform::kNanosPerSecond;
constexpr uint32_t kMostDetached = 16;
struct Detached {
  SessionBlock* block;
  int64_t since_ns;

  bool is_over() const { return platform::monotonic_ns() - since_ns >= kQuarantineNs; }
};
Detached detached[kMostDetached];

}  // namespace

SessionBlock* make_block() {
  static_assert(alignof(SessionBlock) <= alignof(std::max_align_t),
                "allocate_zeroed aligns for any standard type");
  void* memory = nullptr;
  for (Detached& old : detached) {
    if (old.block == nullptr || !old.is_over()) continue;
    memory = old.block;
    old.block->~SessionBlock();
    memset(memory, 0, sizeof(SessionBlock));
    old.block = nullptr;
    break;
  }
  if (memory == nullptr) memory = platform::allocate_zeroed(sizeof(SessionBlock));
  return memory != nullptr ? new (memory) SessionBlock : nullptr;
}

void discard_block(SessionBlock* block) {
  block->~SessionBlock();
  platform::deallocate(block);
}

bool has_room_for_detached() {
  for (const Detached& old : detached) {
    if (old.block == nullptr || old.is_over()) return true;
  }
  return false;
}

void keep_detached(SessionBlock* block) {
  for (Detached& old : detached) {
    if (old.block != nullptr) continue;
    old = {block, platform::monotonic_ns()};
    return;
  }
}

}  // namespace hprof
