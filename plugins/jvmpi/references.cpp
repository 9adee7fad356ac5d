#include "references.h"

#include "bridge.h"

namespace hprof::jvmpi {

namespace {

const JNINativeInterface_* original;

jobject JNICALL new_global_ref(JNIEnv* jni, jobject object) {
  jobject made = original->NewGlobalRef(jni, object);
  if (Bridge* b = bridge()) b->reference_made(jni, JVMPI_EVENT_JNI_GLOBALREF_ALLOC, made);
  return made;
}
jweak JNICALL new_weak_global_ref(JNIEnv* jni, jobject object) {
  jweak made = original->NewWeakGlobalRef(jni, object);
  if (Bridge* b = bridge()) b->reference_made(jni, JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC, made);
  return made;
}
void JNICALL delete_global_ref(JNIEnv* jni, jobject reference) {
  if (Bridge* b = bridge()) b->reference_goes(jni, JVMPI_EVENT_JNI_GLOBALREF_FREE, reference);
  original->DeleteGlobalRef(jni, reference);
}
void JNICALL delete_weak_global_ref(JNIEnv* jni, jweak reference) {
  if (Bridge* b = bridge()) b->reference_goes(jni, JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE, reference);
  original->DeleteWeakGlobalRef(jni, reference);
}

}  // namespace

void watch_references(Vm* vm) {
  static std::atomic<bool> watched{false};
  if (watched.exchange(true, std::memory_order_acq_rel)) return;
  // Both tables stay: threads may be inside the bridge's functions, and the VM copies the other.
  jniNativeInterface* before = nullptr;
  FromVm<jniNativeInterface> ours(*vm);
  if (vm->jvmti->GetJNIFunctionTable(&before) != JVMTI_ERROR_NONE ||
      vm->jvmti->GetJNIFunctionTable(&ours) != JVMTI_ERROR_NONE)
    return;
  original = before;
  vm->own_jni.store(before, std::memory_order_release);
  jniNativeInterface* changed = ours;
  changed->NewGlobalRef = &new_global_ref;
  changed->NewWeakGlobalRef = &new_weak_global_ref;
  changed->DeleteGlobalRef = &delete_global_ref;
  changed->DeleteWeakGlobalRef = &delete_weak_global_ref;
  vm->jvmti->SetJNIFunctionTable(changed);
}

// The agent's handler may itself make references, which are not reported.
void Bridge::reference_made(JNIEnv* jni, jint type, jobject reference) {
  if (reference == nullptr || !sends(jni, type)) return;
  ThreadEntry* self = threads.current(jni);
  if (self == nullptr || self->in_reference.exchange(true, std::memory_order_relaxed)) return;
  Local<jobject> object(jni, jni->NewLocalRef(reference));
  JVMPI_Event event = {};
  event.u.jni_globalref_alloc = {objects.id(jni, object), reference};
  notifier.send(&event, type, jni);
  self->in_reference.store(false, std::memory_order_relaxed);
}

void Bridge::reference_goes(JNIEnv* jni, jint type, jobject reference) {
  if (reference == nullptr || !sends(jni, type)) return;
  ThreadEntry* self = threads.current(jni);
  if (self == nullptr || self->in_reference.exchange(true, std::memory_order_relaxed)) return;
  JVMPI_Event event = {};
  event.u.jni_globalref_free.ref_id = reference;
  notifier.send(&event, type, jni);
  self->in_reference.store(false, std::memory_order_relaxed);
}

}  // namespace hprof::jvmpi
