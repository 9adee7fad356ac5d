// The working memory of one rewriting thread: reused from class to class, bounded, no allocation in the
// steady state.
#pragma once

#include "core/base/grow_buffer.h"

namespace hprof {

// [any], one thread at a time. Holds the result of the last rewrite() until the next one with the same
// Scratch.
struct Scratch {
  // `limit` bounds all of it; 16 MiB is enough for any class of a JDK, a class that needs more is left as it
  // is.
  Scratch(const Memory& memory, size_t limit) : budget{memory, limit} {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  MemoryBudget budget;
  // Per class: where each constant is, what its text means to us, what is known of a method reference, names
  // -> Class.
  GrowBuffer pool_offsets{budget};
  GrowBuffer pool_words{budget};
  GrowBuffer call_kinds{budget};
  GrowBuffer class_table{budget};
  // The result: new constants, and all that follows the constant pool.
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
