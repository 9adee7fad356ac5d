// GetEnv: an old agent asks the JavaVM for JVMPI, which no current VM has.
//
// The JavaVM's pointer to its functions is replaced by one to a copy, in which GetEnv is the bridge's: for
// agents that the VM loads itself (-Xrun), and for those that get the JavaVM from JNIEnv::GetJavaVM. One
// store, undone only if nobody has replaced it since; the copy is never freed.
#pragma once

#include "vm.h"

namespace hprof::jvmpi {

// `answer` is called first; if it returns false, the VM is asked. [onload]
void take_get_env(JavaVM* vm, bool (*answer)(void** env, jint version));
// The VM's own functions. [any]
const JNIInvokeInterface_* vm_functions();
void give_back_get_env(JavaVM* vm);  // [control]

}  // namespace hprof::jvmpi
