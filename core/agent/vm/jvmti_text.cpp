#include "core/agent/vm/jvmti_text.h"

#include <cstring>

namespace hprof {

bool is_virtual_thread(JNIEnv* jni, jobject thread) {
  constexpr jint kSince = 0x00150000;       // JNI_VERSION_21
  constexpr size_t kIsVirtualThread = 234;  // index in the function table (jni.h from JDK 21 on)
  if (jni->GetVersion() < kSince) return false;
  using Function = jboolean(JNICALL*)(JNIEnv*, jobject);
  Function function;
  memcpy(&function, reinterpret_cast<void* const*>(jni->functions) + kIsVirtualThread, sizeof(function));
  return function(jni, thread) != JNI_FALSE;
}

}  // namespace hprof
