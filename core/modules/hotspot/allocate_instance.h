#pragma once

#include <jni.h>

namespace hprof {

// Replaces the native method Unsafe.allocateInstance by one that calls AllocObject, which does the same (JNI
// specification; both are InstanceKlass::allocate_instance in HotSpot) without a VMObjectAlloc event. Probes
// report these objects, at the method's call or in the constructor that follows. Java 25 makes lambdas with
// it, millions in a run of javac, at about a microsecond per event. The intrinsic is not affected. Call it
// once, in a native method called by a class of the boot loader: the VM warns when others replace its
// natives. False: not replaced.
bool replace_allocate_instance(JNIEnv* jni);

}  // namespace hprof
