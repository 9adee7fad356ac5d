#include "core/base/guarded_block.h"

#include <cstring>

namespace hprof {

namespace {

constexpr size_t kGuardSize = 16;
constexpr uint32_t kMagic = 0x68677562;

struct alignas(16) Head {
  uint64_t bytes;
  uint32_t magic;
  uint32_t reserved;
  const void* owner;
};
static_assert(sizeof(Head) % 16 == 0 && sizeof(Head) + kGuardSize <= kGuardedBlockMore,
              "the memory behind it is aligned, and the block has room for head and guard");

}  // namespace

bool is_guard_intact(const void* guard, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    if (static_cast<const uint8_t*>(guard)[i] != kGuardByte) return false;
  }
  return true;
}

void lay_guard(void* guard, size_t bytes) { memset(guard, kGuardByte, bytes); }

void* guard_block(void* block, uint64_t bytes, const void* owner) {
  *static_cast<Head*>(block) = {bytes, kMagic, 0, owner};
  auto* memory = static_cast<uint8_t*>(block) + sizeof(Head);
  lay_guard(memory + bytes, kGuardSize);
  return memory;
}

GuardedBlock guarded_block_of(void* memory) {
  auto* head = reinterpret_cast<Head*>(static_cast<uint8_t*>(memory) - sizeof(Head));
  if (head->magic != kMagic) return {nullptr, 0, nullptr, false};
  head->magic = 0;  // a second release is noticed
  return {head, head->bytes, head->owner,
          is_guard_intact(static_cast<uint8_t*>(memory) + head->bytes, kGuardSize)};
}

}  // namespace hprof
