// What every part of the bridge works with: the VM, and an environment of JVMTI's that is the bridge's own.
#pragma once

#include <atomic>
#include <jvmti.h>

#include <hprof/cpp/local_frame.hpp>
#include <hprof/cpp/services.hpp>

#include "jvmpi_abi.h"

namespace hprof::jvmpi {

struct Vm {
  Services services;
  JavaVM* java_vm = nullptr;
  const JNIInvokeInterface_* invoke = nullptr;  // the VM's own functions: GetEnv of java_vm is the bridge's
  jvmtiEnv* jvmti = nullptr;
  jvmtiEnv* suspender = nullptr;  // the one that may suspend threads; null: none may
  jvmtiCapabilities can = {};
  // JNI's functions before references were watched; null: they are not.
  std::atomic<const JNINativeInterface_*> own_jni{nullptr};

  // Of the calling thread; null when it is not attached, and while Agent_OnLoad runs. [any] but [signal]
  JNIEnv* jni() const {
    void* env = nullptr;
    return invoke->GetEnv(java_vm, &env, JNI_VERSION_1_2) == JNI_OK ? static_cast<JNIEnv*>(env) : nullptr;
  }
  // The bridge's own references, which are not reported to the agent. [app]
  jobject new_global(JNIEnv* jni, jobject object) const { return own(jni).NewGlobalRef(jni, object); }
  jweak new_weak(JNIEnv* jni, jobject object) const { return own(jni).NewWeakGlobalRef(jni, object); }
  void delete_global(JNIEnv* jni, jobject reference) const { own(jni).DeleteGlobalRef(jni, reference); }
  void delete_weak(JNIEnv* jni, jweak reference) const { own(jni).DeleteWeakGlobalRef(jni, reference); }
  const JNINativeInterface_& own(JNIEnv* jni) const {
    const JNINativeInterface_* before = own_jni.load(std::memory_order_acquire);
    return before != nullptr ? *before : *jni->functions;
  }
  void deallocate(void* memory) const {
    if (memory != nullptr) jvmti->Deallocate(static_cast<unsigned char*>(memory));
  }
};

// A local reference that lives as long as the scope.
template <class T>
class Local {
 public:
  Local(JNIEnv* jni, T object) : jni_(jni), object_(object) {}
  ~Local() {
    if (object_ != nullptr) jni_->DeleteLocalRef(object_);
  }
  Local(const Local&) = delete;
  Local& operator=(const Local&) = delete;
  operator T() const { return object_; }
  T* operator&() { return &object_; }

 private:
  JNIEnv* jni_;
  T object_;
};

// Memory that JVMTI allocates, freed at the end of the scope.
template <class T>
class FromVm {
 public:
  explicit FromVm(const Vm& vm) : vm_(vm) {}
  ~FromVm() { vm_.deallocate(memory_); }
  FromVm(const FromVm&) = delete;
  FromVm& operator=(const FromVm&) = delete;
  operator T*() const { return memory_; }
  T** operator&() { return &memory_; }

 private:
  const Vm& vm_;
  T* memory_ = nullptr;
};

}  // namespace hprof::jvmpi
