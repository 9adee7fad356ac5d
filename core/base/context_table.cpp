#include "core/base/context_table.h"

namespace hprof {

bool ContextTable::open(MemoryAccount& memory) {
  if (is_open()) return true;
  uint32_t count = kMost;
  while (count > kFewest && count * sizeof(Place) > memory.budget() / kShare) count /= 2;
  use(static_cast<Place*>(memory.allocate(count * sizeof(Place))), count);
  return is_open();
}

void ContextTable::close(MemoryAccount& memory) {
  memory.release(places_, count_ * sizeof(Place));
  places_ = nullptr;
}

}  // namespace hprof
