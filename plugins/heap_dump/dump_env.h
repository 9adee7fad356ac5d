// A dump's JVMTI environment and thread, which the VM-facing parts share.
#pragma once

#include <jvmti.h>

#include "dump_services.h"

namespace hprof::dump {

struct DumpEnv {
  const DumpServices* services;
  jvmtiEnv* jvmti;  // of one dump: it holds all the tags, and is disposed of with them
  JNIEnv* jni;

  template <class T>
  void free(T* memory) const {
    if (memory != nullptr) jvmti->Deallocate(reinterpret_cast<unsigned char*>(memory));
  }
  void drop(jobject local) const {
    if (local != nullptr) jni->DeleteLocalRef(local);
  }
  // False: there was an exception, which is cleared.
  bool no_exception() const {
    if (!jni->ExceptionCheck()) return true;
    jni->ExceptionClear();
    return false;
  }
};

}  // namespace hprof::dump
