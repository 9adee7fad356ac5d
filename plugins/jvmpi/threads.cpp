#include "threads.h"

#include <hprof/cpp/jni_exception.hpp>

namespace hprof::jvmpi {

bool Threads::open() {
  constexpr uint64_t kFirst = 256, kMost = 1u << 20;
  return table_.open(vm_.services, kFirst, kMost);
}

ThreadEntry* Threads::entry(JNIEnv* env, bool make) {
  const auto key = reinterpret_cast<uintptr_t>(env);
  return make ? table_.make(key) : table_.find(key);
}

ThreadEntry* Threads::current(JNIEnv* jni) {
  ThreadEntry* entry = this->entry(jni, true);
  if (entry == nullptr || entry->object.load(std::memory_order_acquire) != nullptr) return entry;
  jthread thread = nullptr;
  if (vm_.jvmti->GetCurrentThread(&thread) == JVMTI_ERROR_NONE && thread != nullptr) {
    started(jni, thread);
    jni->DeleteLocalRef(thread);
  }
  return entry;
}

jthread Threads::object(JNIEnv* jni, JNIEnv* env) {
  ThreadEntry* entry = env == jni ? current(jni) : this->entry(env, false);
  jthread object = entry != nullptr ? entry->object.load(std::memory_order_acquire) : nullptr;
  return object != nullptr ? without_exception(jni, jni->NewLocalRef(object)) : nullptr;
}

void Threads::tell_current(JNIEnv* jni) {
  if (!notifier_.is_on(JVMPI_EVENT_THREAD_START)) return;
  ThreadEntry* entry = current(jni);
  if (entry == nullptr || entry->telling.load(std::memory_order_acquire)) return;
  jthread object = entry->object.load(std::memory_order_acquire);
  if (object != nullptr) tell(jni, jni, object, entry);
}

}  // namespace hprof::jvmpi
