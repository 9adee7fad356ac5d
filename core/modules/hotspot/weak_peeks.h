// Finds out whether the objects of weak JNI references were collected, by reading the word that a reference
// points to, which HotSpot clears. After enough agreement with IsSameObject, for both results, it is no
// longer called.
#pragma once

#include <cstdint>
#include <jni.h>

namespace hprof {

class HotSpot;

// One for all sessions; each session compares again.
class WeakPeeks {
 public:
  // Bit i: the object of references[i] has been collected; at most 64. One thread at a time. [control]
  uint64_t are_gone(HotSpot& home, JNIEnv* jni, void* const* references, uint32_t count);

 private:
  [[gnu::cold]] bool is_gone(HotSpot& home, JNIEnv* jni, jweak reference);

  const HotSpot* home_ = nullptr;  // the session of the comparisons
  int32_t proofs_ = 0;             // below 0: one failed, or peeking is switched off
};

}  // namespace hprof
