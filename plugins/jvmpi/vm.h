// The VM, and a jvmtiEnv of the bridge's own.
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
  const JNIInvokeInterface_* invoke = nullptr;  // the VM's own: java_vm's GetEnv is the bridge's
  jvmtiEnv* jvmti = nullptr;
  jvmtiEnv* suspender = nullptr;  // the jvmtiEnv with can_suspend; null: none
  jvmtiCapabilities can = {};
  // The JNI functions before references were watched; null: they are not watched.
  std::atomic<const JNINativeInterface_*> own_jni{nullptr};

  // The calling thread's JNIEnv; null if it is not attached, or in Agent_OnLoad. [any] but [signal]
  JNIEnv* jni() const {
    void* env = nullptr;
    return invoke->GetEnv(java_vm, &env, JNI_VERSION_1_2) == JNI_OK ? static_cast<JNIEnv*>(env) : nullptr;
  }
  // Make and delete references that are not reported to the agent. [app]
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

inline jint JNICALL clear_tag(jlong, jlong, jlong* tag, jint, void*) {
  *tag = 0;
  return 0;
}

// Ends the use of an environment that has had events: they are off, its objects lose their tags, and the VM
// gets its capabilities back. It is not disposed of: HotSpot damages its own memory now and then when one
// that had events of threads is disposed of while threads start and end. [control]
inline void leave_environment(jvmtiEnv* jvmti) {
  jvmti->SetEventCallbacks(nullptr, 0);
  jvmti->SetEnvironmentLocalStorage(nullptr);
  jvmtiHeapCallbacks callbacks = {};
  callbacks.heap_iteration_callback = clear_tag;
  jvmti->IterateThroughHeap(JVMTI_HEAP_FILTER_UNTAGGED, nullptr, &callbacks, nullptr);
  jvmtiCapabilities held = {};
  if (jvmti->GetCapabilities(&held) == JVMTI_ERROR_NONE) jvmti->RelinquishCapabilities(&held);
}

// A local reference, deleted at the end of the scope.
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
