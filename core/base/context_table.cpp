#include "core/base/context_table.h"

namespace hprof {

bool ContextTable::open(MemoryAccount& memory) {
  if (is_open()) return true;
  uint32_t count = kMost;
  while (count > kFewest && count * sizeof(Slot) > memory.budget() / kShare) count /= 2;
  use(static_cast<Slot*>(memory.allocate(count * sizeof(Slot))), count);
  return is_open();
}

void ContextTable::close(MemoryAccount& memory) {
  memory.release(slots_, count_ * sizeof(Slot));
  slots_ = nullptr;
}

}  // namespace hprof
