#include "core/modules/hotspot/allocate_instance.h"

#include <hprof/cpp/jni_exception.hpp>

#include "core/modules/hotspot/jni_table.h"

namespace hprof {

static jobject JNICALL allocate_instance(JNIEnv* jni, jobject, jclass of) {
  return alloc_object_untold(jni, of);
}

bool replace_allocate_instance(JNIEnv* jni) {
  char name[] = "allocateInstance", signature[] = "(Ljava/lang/Class;)Ljava/lang/Object;";
  const JNINativeMethod method = {name, signature, reinterpret_cast<void*>(&allocate_instance)};
  constexpr const char* kOwners[] = {"jdk/internal/misc/Unsafe", "sun/misc/Unsafe"};  // JDK 9 and later; 8
  for (const char* owner : kOwners) {
    jclass unsafe = jni->FindClass(owner);
    const bool is_done = unsafe != nullptr && jni->RegisterNatives(unsafe, &method, 1) == JNI_OK;
    clear_exception(jni);
    if (unsafe != nullptr) jni->DeleteLocalRef(unsafe);
    if (is_done) return true;
  }
  return false;
}

}  // namespace hprof
