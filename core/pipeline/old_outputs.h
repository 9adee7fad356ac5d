// keep-files=: the closed outputs of a session, oldest first, at most that many.
#pragma once

#include <cstdint>

#include "core/base/memory_account.h"

namespace hprof {

// One thread at a time. [writer][control]
class OldOutputs {
 public:
  // Room for `most` names; 0: all outputs stay. False: no memory.
  bool open(MemoryAccount& memory, uint32_t most);
  void close(MemoryAccount& memory);
  // Adds a closed output. Calls remove(name) for the oldest if there are too many. A name used again counts
  // once.
  template <class Remove>
  void add(MemoryAccount& memory, const char* name, Remove remove) {
    if (most_ == 0) return;
    forget(memory, name);
    if (count_ == most_) {
      remove(static_cast<const char*>(names_[0]));
      drop(memory, 0);
    }
    append(memory, name);
  }

 private:
  void forget(MemoryAccount& memory, const char* name);
  void drop(MemoryAccount& memory, uint32_t index);
  void append(MemoryAccount& memory, const char* name);

  char** names_ = nullptr;
  uint32_t most_ = 0, count_ = 0;
};

}  // namespace hprof
