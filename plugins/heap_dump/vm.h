// What the VM-facing parts share.
#pragma once

#include <jvmti.h>

#include <hprof/cpp/services.hpp>

namespace hprof::dump {

struct Vm {
  const Services* services;
  jvmtiEnv* jvmti;  // of one dump: it has all the tags, and takes them with it
  JNIEnv* jni;

  template <class T>
  void free(T* memory) const {
    if (memory != nullptr) jvmti->Deallocate(reinterpret_cast<unsigned char*>(memory));
  }
  void drop(jobject local) const {
    if (local != nullptr) jni->DeleteLocalRef(local);
  }
  // False: there was one; it is gone.
  bool no_exception() const {
    if (!jni->ExceptionCheck()) return true;
    jni->ExceptionClear();
    return false;
  }
};

}  // namespace hprof::dump
