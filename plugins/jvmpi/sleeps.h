// Thread.sleep, which JVMPI reports as a wait without an object: the VM is given a function of the bridge's
// for its own JVM_Sleep, when it binds that to the native method.
#pragma once

#include "vm.h"

namespace hprof::jvmpi {

// Before the class Thread is initialised. Does nothing if the VM exports no such function. [onload]
void watch_sleeps(Vm* vm);
// JVMTI's NativeMethodBind.
void JNICALL on_native_method_bind(jvmtiEnv*, JNIEnv*, jthread, jmethodID, void* address, void** new_address);

}  // namespace hprof::jvmpi
