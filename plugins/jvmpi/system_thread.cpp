#include "system_thread.h"

#include <hprof/cpp/jni_exception.hpp>

namespace hprof::jvmpi {

namespace {

struct Body {
  const Vm* vm;
  void (*run)(void*);
};

void JNICALL run(jvmtiEnv*, JNIEnv*, void* argument) {
  auto* body = static_cast<Body*>(argument);
  auto* function = body->run;
  body->vm->services.release(body, 1);
  function(nullptr);
}

jobject make_thread(const Vm& vm, JNIEnv* jni, const char* name) {
  FromVm<jthreadGroup> groups(vm);
  jint count = 0;
  if (vm.jvmti->GetTopThreadGroups(&count, &groups) != JVMTI_ERROR_NONE || count == 0) return nullptr;
  jobject thread = nullptr;
  Local<jclass> cls(jni, jni->FindClass("java/lang/Thread"));
  jmethodID make = cls != nullptr
                       ? jni->GetMethodID(cls, "<init>", "(Ljava/lang/ThreadGroup;Ljava/lang/String;)V")
                       : nullptr;
  Local<jstring> text(jni, make != nullptr ? jni->NewStringUTF(name != nullptr ? name : "") : nullptr);
  jvalue arguments[2];
  arguments[0].l = groups[0];
  arguments[1].l = text;
  if (text != nullptr) thread = jni->NewObjectA(cls, make, arguments);
  for (jint i = 0; i < count; i++) jni->DeleteLocalRef(groups[i]);
  clear_exception(jni);
  return thread;
}

}  // namespace

bool start_system_thread(const Vm& vm, JNIEnv* jni, const char* name, jint priority, void (*body)(void*)) {
  Local<jobject> thread(jni, make_thread(vm, jni, name));
  auto* argument = thread != nullptr ? vm.services.allocate<Body>(1) : nullptr;
  if (argument == nullptr) return false;
  *argument = {&vm, body};
  if (priority < JVMPI_MINIMUM_PRIORITY) priority = JVMPI_MINIMUM_PRIORITY;
  if (priority > JVMPI_MAXIMUM_PRIORITY) priority = JVMPI_MAXIMUM_PRIORITY;
  if (vm.jvmti->RunAgentThread(thread, &run, argument, priority) == JVMTI_ERROR_NONE) return true;
  vm.services.release(argument, 1);
  return false;
}

}  // namespace hprof::jvmpi
