// Finds out whether the object of a weak JNI reference was collected, by reading the word that the reference
// points to, which HotSpot clears. After enough agreement with the VM, for both results, the VM is not asked
// any more.
#pragma once

#include <cstdint>
#include <jni.h>

namespace hprof {

class HotSpot;

class WeakPeeks {
 public:
  // The caller owns the reference. One thread at a time. [control]
  bool is_gone(HotSpot& home, JNIEnv* jni, jweak reference);

 private:
  int32_t proofs_ = 0;  // below 0: one was wrong, or they are switched off
};

}  // namespace hprof
