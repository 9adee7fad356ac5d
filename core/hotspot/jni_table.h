// Objects that native code makes by functions of JNI: strings, arrays, and objects without a constructor. No
// event of the VM's tells of them, so these functions become ours (JVMTI, SetJNIFunctionTable). NewObject
// runs a constructor, which has a probe.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

// Called with each of them, on the thread that made it; no exception is pending. bare: AllocObject's; native
// code may run a constructor on it yet. [app]
using NativeObjectMade = void (*)(void* self, void* jni, void* object, uint32_t bare);

// For the rest of the VM's life; once in a process. False: this VM does not let its functions be replaced, or
// they are already. [control]
bool replace_jni_table(jvmtiEnv* jvmti, NativeObjectMade made, void* self);

// AllocObject as it was. [app]
jobject alloc_object_untold(JNIEnv* jni, jclass of);

}  // namespace hprof
