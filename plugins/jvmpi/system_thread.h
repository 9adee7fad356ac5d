// CreateSystemThread.
#pragma once

#include "vm.h"

namespace hprof::jvmpi {

// Starts a daemon thread in the top thread group that runs body(NULL). False: the VM starts none. [app]
bool start_system_thread(const Vm& vm, JNIEnv* jni, const char* name, jint priority, void (*body)(void*));

}  // namespace hprof::jvmpi
