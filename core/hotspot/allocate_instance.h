// Unsafe.allocateInstance by another way of the VM's.
#pragma once

#include <jni.h>

namespace hprof {

// Replaces the native method Unsafe.allocateInstance by one that calls AllocObject, which does the same (JNI
// specification; both are InstanceKlass::allocate_instance in HotSpot) without a VMObjectAlloc event. Probes
// tell of these objects: where the method is called, or in the constructor that runs next. Java 25 makes
// lambdas with it, millions in a run of javac, and the VM spends about a microsecond on each event.
// Compiled code that makes the object itself goes on doing so. Once, in a native method whose caller is a
// class of the boot loader: the VM warns of all others who replace its natives. False: as it was.
bool replace_allocate_instance(JNIEnv* jni);

}  // namespace hprof
