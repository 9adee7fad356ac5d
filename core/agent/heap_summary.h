// Counts what is on the heap.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

struct HeapSize {
  uint64_t bytes = 0;
  uint64_t objects = 0;
};

// Walks the heap once, at a safepoint. Unreachable objects that are not collected yet count, too. False: the
// VM refuses. [control]
bool measure_heap(jvmtiEnv* jvmti, HeapSize* size);

}  // namespace hprof
