// A JNI and a JVMTI environment without functions: a test sets those that it expects to be called.
#pragma once

#include <jvmti.h>

namespace hprof::test {

struct Environments {
  JNINativeInterface_ jni_functions = {};
  JNIEnv_ jni = {};
  jvmtiInterface_1_ jvmti_functions = {};
  _jvmtiEnv jvmti = {};

  Environments() {
    jni.functions = &jni_functions;
    jvmti.functions = &jvmti_functions;
  }
  Environments(const Environments&) = delete;
  Environments& operator=(const Environments&) = delete;
};

}  // namespace hprof::test
