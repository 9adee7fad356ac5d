// Finds out whether the objects of weak JNI references were collected, by reading the word that a reference
// points to, which HotSpot clears. After enough agreement with the VM, for both results, the VM is not asked
// any more.
#pragma once

#include <cstdint>
#include <jni.h>

namespace hprof {

class HotSpot;

// One for all sessions; each proves it again.
class WeakPeeks {
 public:
  // A bit for each of the caller's references, at most 64: its object has been collected. One thread at a
  // time. [control]
  uint64_t are_gone(HotSpot& home, JNIEnv* jni, void* const* references, uint32_t count);

 private:
  [[gnu::cold]] bool is_gone(HotSpot& home, JNIEnv* jni, jweak reference);

  const HotSpot* home_ = nullptr;  // for which the proofs are
  int32_t proofs_ = 0;             // below 0: one was wrong, or they are switched off
};

}  // namespace hprof
