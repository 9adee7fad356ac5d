#include "last_freed.h"

#include <initializer_list>

#include <hprof/cpp/jni_exception.hpp>

namespace hprof::jvmpi {

namespace {

constexpr uint64_t kPauseNs = 1'000'000;
constexpr int kTries = 10'000;           // pauses
constexpr jlong kMark = jlong{1} << 62;  // beside kTold and kClass

}  // namespace

void LastFreed::open() {
  void* env = nullptr;
  if (vm_.invoke->GetEnv(vm_.java_vm, &env, JVMTI_VERSION_1_2) != JNI_OK) return;
  auto* jvmti = static_cast<jvmtiEnv*>(env);
  jvmtiCapabilities wanted = {};
  wanted.can_tag_objects = 1;
  wanted.can_generate_object_free_events = 1;
  wanted.can_generate_garbage_collection_events = 1;
  jvmtiEventCallbacks callbacks = {};
  callbacks.ObjectFree = &on_freed;
  callbacks.GarbageCollectionFinish = &on_collected;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE ||
      jvmti->SetEnvironmentLocalStorage(this) != JVMTI_ERROR_NONE ||
      jvmti->SetEventCallbacks(&callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE) {
    jvmti->DisposeEnvironment();
    return;
  }
  for (const jvmtiEvent event : {JVMTI_EVENT_OBJECT_FREE, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH})
    jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  other_ = jvmti;
}

void LastFreed::close() {
  if (other_ != nullptr) leave_environment(other_);
  other_ = nullptr;
}

LastFreed* LastFreed::of(jvmtiEnv* jvmti) {
  void* self = nullptr;
  return jvmti->GetEnvironmentLocalStorage(&self) == JVMTI_ERROR_NONE ? static_cast<LastFreed*>(self)
                                                                      : nullptr;
}

void JNICALL LastFreed::on_freed(jvmtiEnv* jvmti, jlong tag) {
  LastFreed* self = of(jvmti);
  if (self != nullptr && tag == self->mark_.load(std::memory_order_acquire)) self->pass(kByOther);
}

void JNICALL LastFreed::on_collected(jvmtiEnv* jvmti) {
  if (LastFreed* self = of(jvmti)) self->collections_.fetch_add(1, std::memory_order_acq_rel);
}

void LastFreed::pass(uint32_t by) {
  const uint32_t before = passed_.fetch_or(by, std::memory_order_acq_rel);
  if (by == kByOther && (before & kByBridge) != 0) passed_.fetch_or(kInOrder, std::memory_order_acq_rel);
}

// False: no memory, or the calling thread has a pending exception of the program.
bool LastFreed::mark(JNIEnv* jni) {
  if (jni->ExceptionCheck() == JNI_TRUE) return false;
  marking_.store(jni, std::memory_order_relaxed);
  jobject object = without_exception(jni, jni->NewByteArray(1));
  marking_.store(nullptr, std::memory_order_relaxed);
  const auto number = static_cast<jlong>(ids_.take());
  if (object == nullptr) return false;
  passed_.store(0, std::memory_order_relaxed);
  mark_.store(number | kMark, std::memory_order_release);
  const bool marked = number != 0 && vm_.jvmti->SetTag(object, number | kMark) == JVMTI_ERROR_NONE &&
                      other_->SetTag(object, number | kMark) == JVMTI_ERROR_NONE;
  jni->DeleteLocalRef(object);
  return marked;
}

bool LastFreed::wait() const {
  for (int i = 0; i < kTries; i++) {
    if ((passed_.load(std::memory_order_acquire) & kBoth) == kBoth) return true;
    vm_.services.threads->pause(vm_.services.host, kPauseNs);
  }
  return false;
}

// The other environment may be handled just before the collection, and the bridge's after it: then the mark
// proves nothing, and another one is made.
void LastFreed::collect(JNIEnv* jni) {
  constexpr int kMarks = 3;
  for (int i = 0; i < kTries && busy_.exchange(true, std::memory_order_acq_rel); i++)
    vm_.services.threads->pause(vm_.services.host, kPauseNs);
  for (int i = 0; i < kMarks; i++) {
    const uint32_t before = collections_.load(std::memory_order_acquire);
    const bool marked = other_ != nullptr && mark(jni);
    vm_.jvmti->ForceGarbageCollection();
    const uint32_t after = collections_.load(std::memory_order_acquire);
    // The VM has collected nothing, so it frees no mark.
    if (!marked || after == before || !wait()) break;
    if ((passed_.load(std::memory_order_acquire) & kInOrder) != 0) break;
  }
  busy_.store(false, std::memory_order_release);
}

}  // namespace hprof::jvmpi
