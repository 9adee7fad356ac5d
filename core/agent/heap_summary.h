// How much is on the heap, counted by the VM.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

struct HeapSize {
  uint64_t bytes = 0;
  uint64_t objects = 0;
};

// Walks the heap once, while the application is stopped. Unreachable objects that have not been collected yet
// count, too. False: the VM does not allow it. [control]
bool measure_heap(jvmtiEnv* jvmti, HeapSize* size);

}  // namespace hprof
