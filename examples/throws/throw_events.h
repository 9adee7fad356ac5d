// SPDX-License-Identifier: Apache-2.0
// A jvmtiEnv of the unit's own, for JVMTI's exception events: each exception thrown, by the VM and by native
// code, too.
//
// The capability alone makes all exceptions slow: compiled code no longer finds handlers itself, but calls
// the VM, which checks for debuggers. So it is requested only with throws-events=y.
#pragma once

#include <jvmti.h>

class ThrowEvents {
 public:
  // Called on the thread that throws, with the stack of the throw.
  using Thrown = void (*)(void* self, JNIEnv* jni, jobject exception);

  // Before the VM starts. False: this VM does not have the events, or has them at its start only. [onload]
  bool open(void* java_vm, Thrown thrown, void* self) {
    thrown_ = thrown;
    self_ = self;
    if (static_cast<JavaVM*>(java_vm)->GetEnv(reinterpret_cast<void**>(&jvmti_), JVMTI_VERSION_1_2) !=
        JNI_OK) {
      jvmti_ = nullptr;
      return false;
    }
    jvmtiCapabilities wanted = {};
    wanted.can_generate_exception_events = 1;
    jvmtiEventCallbacks callbacks = {};
    callbacks.Exception = &on_exception;
    if (jvmti_->AddCapabilities(&wanted) == JVMTI_ERROR_NONE &&
        jvmti_->SetEnvironmentLocalStorage(this) == JVMTI_ERROR_NONE &&
        jvmti_->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE) {
      return true;
    }
    close();
    return false;
  }

  bool is_open() const { return jvmti_ != nullptr; }

  // After false, callbacks that have begun may still run. [control]
  bool enable(bool on) {
    return jvmti_->SetEventNotificationMode(on ? JVMTI_ENABLE : JVMTI_DISABLE, JVMTI_EVENT_EXCEPTION,
                                            nullptr) == JVMTI_ERROR_NONE;
  }

  // Gives the capability back. The environment stays: HotSpot damages its own memory now and then when one
  // that had events of threads is disposed of while threads start and end. [control]
  void close() {
    if (jvmti_ == nullptr) return;
    jvmti_->SetEventCallbacks(nullptr, 0);
    jvmti_->SetEnvironmentLocalStorage(nullptr);
    jvmtiCapabilities held = {};
    if (jvmti_->GetCapabilities(&held) == JVMTI_ERROR_NONE) jvmti_->RelinquishCapabilities(&held);
    jvmti_ = nullptr;
  }

 private:
  static void JNICALL on_exception(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jmethodID, jlocation,
                                   jobject exception, jmethodID, jlocation) {
    void* storage = nullptr;
    if (jvmti->GetEnvironmentLocalStorage(&storage) != JVMTI_ERROR_NONE || storage == nullptr) return;
    auto* events = static_cast<ThrowEvents*>(storage);
    events->thrown_(events->self_, jni, exception);
  }

  jvmtiEnv* jvmti_ = nullptr;
  Thrown thrown_ = nullptr;
  void* self_ = nullptr;
};
