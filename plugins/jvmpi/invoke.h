// GetEnv, by which an agent asks the JavaVM for JVMPI, which no current VM has.
//
// The JavaVM gets a copy of its function table with the bridge's GetEnv, for agents that the VM loads itself
// (-Xrun) or that call JNIEnv::GetJavaVM. One store, undone only if nobody has replaced it since; the copy is
// never freed.
#pragma once

#include "vm.h"

namespace hprof::jvmpi {

// `answer` is called first; if it returns kForward, the VM's GetEnv is. [onload]
void take_get_env(JavaVM* vm, jint (*answer)(void** env, jint version));
constexpr jint kForward = 1;  // none of JNI's results
// The VM's own function table. [any]
const JNIInvokeInterface_* vm_functions();
void give_back_get_env(JavaVM* vm);  // [control]

}  // namespace hprof::jvmpi
