// Objects that native code makes by functions of JNI: strings, arrays, and objects without a constructor. The
// VM posts no event for them, so these functions are replaced (JVMTI, SetJNIFunctionTable). NewObject runs a
// constructor, which has a probe.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

// Called with each of them, on the thread that made it; no exception is pending. bare: from AllocObject;
// native code may still run a constructor on it. [app]
using NativeObjectMade = void (*)(void* self, void* jni, void* object, uint32_t bare);

// For the rest of the VM's life; once in a process. False: this VM does not let its functions be replaced, or
// they are already. [control]
bool replace_jni_table(jvmtiEnv* jvmti, NativeObjectMade made, void* self);

// The original AllocObject. [app]
jobject alloc_object_untold(JNIEnv* jni, jclass of);

}  // namespace hprof
