#include "thread_word.h"

#include <hprof/cpp/jni_exception.hpp>

#include "targets.h"

namespace hprof::times {

bool ThreadWord::open(const Services& services) {
  auto* jni = static_cast<JNIEnv*>(services.jvm->jni(services.host));
  if (jni == nullptr || class_ != nullptr) return class_ != nullptr;
  jclass thread = without_exception(jni, jni->FindClass("java/lang/Thread"));
  jclass targets = without_exception(jni, jni->FindClass(kTargetClass));
  if (thread != nullptr && targets != nullptr) {
    field_ = without_exception(jni, jni->GetFieldID(thread, kField, "J"));
    state_at_ = without_exception(jni, jni->GetStaticMethodID(targets, "stateAt", "(Ljava/lang/Thread;)J"));
    if (field_ != nullptr && state_at_ != nullptr)
      class_ = static_cast<jclass>(without_exception(jni, jni->NewGlobalRef(targets)));
  }
  if (thread != nullptr) jni->DeleteLocalRef(thread);
  if (targets != nullptr) jni->DeleteLocalRef(targets);
  return class_ != nullptr;
}

// A thread that the VM does not know has neither JNIEnv nor reference. GetLongField may be wrong
// (hprof/cpp/field_reader.hpp), but takes a tenth of the time of a call of Java code.
uint64_t ThreadWord::read(void* jni, void* thread, uint64_t guess) const {
  auto* env = static_cast<JNIEnv*>(jni);
  auto* of = static_cast<jobject>(thread);
  if (class_ == nullptr || env == nullptr || of == nullptr) return 0;
  if (guess != 0 && static_cast<uint64_t>(env->GetLongField(of, field_)) == guess) return guess;
  jvalue argument = {};
  argument.l = of;
  const jlong word = env->CallStaticLongMethodA(class_, state_at_, &argument);
  if (!env->ExceptionCheck()) return static_cast<uint64_t>(word);
  env->ExceptionClear();
  return 0;
}

void ThreadWord::write(void* jni, void* thread, uint64_t word) const {
  if (class_ == nullptr || jni == nullptr || thread == nullptr) return;
  static_cast<JNIEnv*>(jni)->SetLongField(static_cast<jobject>(thread), field_, static_cast<jlong>(word));
}

}  // namespace hprof::times
