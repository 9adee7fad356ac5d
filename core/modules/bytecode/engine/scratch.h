// The working memory of one rewriting thread: bounded, and reused, so that most classes need no allocation.
#pragma once

#include "core/base/grow_buffer.h"

namespace hprof {

// [any], one thread at a time. Has the result of the last rewrite() until the next one.
struct Scratch {
  // `limit` bounds the sum; 16 MiB is enough for all classes of a JDK. A class that needs more stays
  // unchanged.
  Scratch(const Memory& memory, size_t limit) : budget{memory, limit} {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  MemoryBudget budget;
  // Per class: positions of constants, meanings of texts, kinds of method references, names -> Class.
  GrowBuffer pool_offsets{budget};
  GrowBuffer pool_words{budget};
  GrowBuffer call_kinds{budget};
  GrowBuffer class_table{budget};
  // The result: new constants, and what follows the constant pool.
  GrowBuffer pool_tail{budget};
  GrowBuffer body{budget};
  // Per method: marks and new positions of the code bytes, the marked positions, exception table, frame
  // state.
  GrowBuffer marks{budget};
  GrowBuffer map{budget};
  GrowBuffer points{budget};
  GrowBuffer islands{budget};
  GrowBuffer handlers{budget};
  GrowBuffer locals{budget};
  GrowBuffer stack{budget};
  GrowBuffer side_locals{budget};
  GrowBuffer side_stack{budget};
};

}  // namespace hprof
