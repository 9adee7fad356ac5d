// How much is on the heap, counted by the VM.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

struct HeapSize {
  uint64_t bytes = 0;
  uint64_t objects = 0;
};

// Walks the heap once; the application stands still meanwhile. Objects that nobody reaches any more and that
// no collection has taken yet count, too. False: the VM does not let us. [control]
bool measure_heap(jvmtiEnv* jvmti, HeapSize* size);

}  // namespace hprof
