#include "core/pipeline/old_outputs.h"

#include <cstring>

namespace hprof {

bool OldOutputs::open(MemoryAccount& memory, uint32_t most) {
  if (most == 0) return true;
  names_ = static_cast<char**>(memory.allocate(most * sizeof(char*)));
  most_ = names_ != nullptr ? most : 0;
  return names_ != nullptr;
}

void OldOutputs::close(MemoryAccount& memory) {
  while (count_ != 0) drop(memory, count_ - 1);
  memory.release(names_, most_ * sizeof(char*));
  names_ = nullptr;
  most_ = 0;
}

void OldOutputs::drop(MemoryAccount& memory, uint32_t index) {
  memory.release(names_[index], strlen(names_[index]) + 1);
  memmove(names_ + index, names_ + index + 1, (--count_ - index) * sizeof(char*));
}

void OldOutputs::forget(MemoryAccount& memory, const char* name) {
  for (uint32_t i = 0; i < count_; i++) {
    if (strcmp(names_[i], name) == 0) return drop(memory, i);
  }
}

// An output for whose name there is no memory is never deleted.
void OldOutputs::append(MemoryAccount& memory, const char* name) {
  const size_t size = strlen(name) + 1;
  auto* copy = static_cast<char*>(memory.allocate(size, MemoryAccount::kAll));
  if (copy == nullptr) return;
  memcpy(copy, name, size);
  names_[count_++] = copy;
}

}  // namespace hprof
