// Replaces Unsafe.allocateInstance.
#pragma once

#include <jni.h>

namespace hprof {

// Replaces the native method Unsafe.allocateInstance by one that calls AllocObject, which does the same (JNI
// specification; both are InstanceKlass::allocate_instance in HotSpot) without a VMObjectAlloc event. Probes
// report these objects: where the method is called, or in the constructor that runs next. Java 25 makes
// lambdas with it, millions in a run of javac, and the VM spends about a microsecond on each event. Compiled
// code that makes the object itself is not affected. Call it once, in a native method called by a class of
// the boot loader: the VM prints a warning when others replace its natives. False: not replaced.
bool replace_allocate_instance(JNIEnv* jni);

}  // namespace hprof
