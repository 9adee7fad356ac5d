// Exceptions of JNI functions that the agent calls. A call that fails may leave an exception behind (JNI
// specification, "Asynchronous Exceptions" and each function's THROWS); on one of the program's threads it would then
// be thrown in the program.
#pragma once

#include <jni.h>

namespace hprof {

// Drops what is pending. Any thread, that of its JNIEnv.
inline void clear_exception(JNIEnv* jni) {
  if (jni->ExceptionCheck()) jni->ExceptionClear();
}

// What a call has made: null where it failed, and then nothing is pending.
template <class Made>
Made without_exception(JNIEnv* jni, Made made) {
  if (made == nullptr) clear_exception(jni);
  return made;
}

}  // namespace hprof
