// SPDX-License-Identifier: Apache-2.0
// Exceptions of JNI functions that the agent calls. A call that fails may leave an exception behind (JNI
// specification, "Asynchronous Exceptions" and each function's THROWS); on one of the program's threads it would then
// be thrown in the program.
#pragma once

#include <jni.h>

namespace hprof {

// Clears a pending exception. Call it on the thread that owns `jni`.
inline void clear_exception(JNIEnv* jni) {
  if (jni->ExceptionCheck()) jni->ExceptionClear();
}

// Returns the result of a JNI call that makes an object, and clears the exception if the call failed (null).
template <class Made>
Made without_exception(JNIEnv* jni, Made made) {
  if (made == nullptr) clear_exception(jni);
  return made;
}

}  // namespace hprof
