#include "sleeps.h"

#include <cstring>
#include <initializer_list>

#include <hprof/draft/library.h>

#include "bridge.h"

namespace hprof::jvmpi {

namespace {

using Sleep = void(JNICALL*)(JNIEnv* jni, jclass cls, jlong time);
Sleep original;

void JNICALL sleep(JNIEnv* jni, jclass cls, jlong time) {
  constexpr uint32_t kNanoseconds = 21;  // the Java version from which on time is in them
  constexpr jlong kNsPerMs = 1'000'000;
  Bridge* b = bridge();
  if (b == nullptr) return original(jni, cls, time);
  b->wait(jni, nullptr, b->vm.services.settings().java_version < kNanoseconds ? time : time / kNsPerMs);
  original(jni, cls, time);
  jthrowable thrown = jni->ExceptionOccurred();
  if (thrown != nullptr) jni->ExceptionClear();
  b->waited(jni, nullptr);
  if (thrown != nullptr) jni->Throw(thrown);
}

}  // namespace

void JNICALL on_native_method_bind(jvmtiEnv*, JNIEnv*, jthread, jmethodID, void* address,
                                   void** new_address) {
  void* bound = nullptr;
  std::memcpy(&bound, &original, sizeof(bound));
  if (bound != nullptr && address == bound) *new_address = reinterpret_cast<void*>(&sleep);
}

void watch_sleeps(Vm* vm) {
  const auto* libraries = find_service<hprof_library_service>(vm->services.host, HPROF_SERVICE_LIBRARY);
  for (const char* name : {"JVM_SleepNanos", "JVM_Sleep"}) {
    void* found = libraries != nullptr ? libraries->symbol(vm->services.host, nullptr, name) : nullptr;
    if (found == nullptr) continue;
    std::memcpy(&original, &found, sizeof(found));
    vm->jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_NATIVE_METHOD_BIND, nullptr);
    return;
  }
}

}  // namespace hprof::jvmpi
