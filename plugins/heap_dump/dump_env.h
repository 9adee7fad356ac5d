// The JVMTI environment and the thread of one dump.
#pragma once

#include <jvmti.h>

#include "dump_services.h"

namespace hprof::dump {

struct DumpEnv {
  const DumpServices* services;
  jvmtiEnv* jvmti;  // holds all tags of the dump, which end with it
  JNIEnv* jni;

  template <class T>
  void free(T* memory) const {
    if (memory != nullptr) jvmti->Deallocate(reinterpret_cast<unsigned char*>(memory));
  }
  void drop(jobject local) const {
    if (local != nullptr) jni->DeleteLocalRef(local);
  }
  // False: there was an exception; it has been cleared.
  bool no_exception() const {
    if (!jni->ExceptionCheck()) return true;
    jni->ExceptionClear();
    return false;
  }
};

}  // namespace hprof::dump
