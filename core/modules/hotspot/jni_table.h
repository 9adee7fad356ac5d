// Objects that native code makes by functions of JNI: strings, arrays, and objects without a constructor.
// JVMTI has no event for them, so these functions are replaced (SetJNIFunctionTable). NewObject runs a
// constructor, which has a probe.
#pragma once

#include <cstdint>
#include <jvmti.h>

namespace hprof {

// Called for each such object, on the thread that made it; no exception is pending. bare: from AllocObject;
// native code may still run a constructor on it. [app]
using NativeObjectMade = void (*)(void* self, void* jni, void* object, uint32_t bare);

// Replaces the functions, once in a process, until the VM ends. False: the VM refuses, or they are replaced
// already. [control]
bool replace_jni_table(jvmtiEnv* jvmti, NativeObjectMade made, void* self);

// The original AllocObject, which calls no NativeObjectMade. [app]
jobject alloc_object_untold(JNIEnv* jni, jclass of);

}  // namespace hprof
