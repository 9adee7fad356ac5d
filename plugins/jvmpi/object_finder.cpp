#include "object_finder.h"

#include <hprof/cpp/jni_exception.hpp>

namespace hprof::jvmpi {

namespace {

constexpr jlong kMarked = 1, kPassed = 2;  // tags of the marker

}  // namespace

// The agent may suspend the thread in NewLocalRef, so it does not hold the lock there.
jobject ObjectFinder::kept(JNIEnv* jni, uint64_t number) {
  jweak weak = nullptr;
  {
    LockGuard guard(lock_, vm_.services);
    const jweak* slot = kept_.find(number);
    if (slot != nullptr) weak = *slot;
  }
  return weak != nullptr ? without_exception(jni, vm_.own(jni).NewLocalRef(jni, weak)) : nullptr;
}

void ObjectFinder::keep(JNIEnv* jni, jobject object, uint64_t number) {
  jweak made = without_exception(jni, vm_.new_weak(jni, object));
  if (made == nullptr) return;
  {
    LockGuard guard(lock_, vm_.services);
    jweak* slot = kept_.is_open() || kept_.open(vm_.services) ? kept_.make(number) : nullptr;
    if (slot != nullptr && *slot == nullptr) {
      *slot = made;
      made = nullptr;
      count_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  if (made != nullptr) vm_.delete_weak(jni, made);
}

jint JNICALL ObjectFinder::mark(jlong, jlong, jlong* tag, jint, void* left) {
  auto& more = *static_cast<uint32_t*>(left);
  if (*tag != 0) return 0;
  if (more == 0) return JVMTI_VISIT_ABORT;
  *tag = kMarked;
  more--;
  return 0;
}

bool ObjectFinder::keep_some(JNIEnv* jni, jclass cls) {
  void* env = nullptr;
  jvmtiCapabilities wanted = {};
  wanted.can_tag_objects = 1;
  if (marker_ == nullptr && vm_.invoke->GetEnv(vm_.java_vm, &env, JVMTI_VERSION_1_2) == JNI_OK) {
    marker_ = static_cast<jvmtiEnv*>(env);
    marker_->AddCapabilities(&wanted);
  }
  if (marker_ == nullptr) return false;
  uint32_t more = kTogether;
  jvmtiHeapCallbacks callbacks = {};
  callbacks.heap_iteration_callback = &ObjectFinder::mark;
  FromVm<jobject> objects(vm_);
  jint count = 0;
  const jlong marked = kMarked;
  if (marker_->IterateThroughHeap(0, cls, &callbacks, &more) != JVMTI_ERROR_NONE || more == kTogether ||
      marker_->GetObjectsWithTags(1, &marked, &count, &objects, nullptr) != JVMTI_ERROR_NONE)
    return false;
  for (jint i = 0; i < count; i++) {
    jlong tag = 0;
    marker_->SetTag(objects[i], kPassed);
    if (vm_.jvmti->GetTag(objects[i], &tag) == JVMTI_ERROR_NONE && tag != 0)
      keep(jni, objects[i], number_of_tag(tag));
    jni->DeleteLocalRef(objects[i]);
  }
  return true;
}

void ObjectFinder::forget_all(JNIEnv* jni) {
  forgotten_.each([&](jweak weak) {
    if (weak != nullptr) vm_.delete_weak(jni, weak);
  });
  forgotten_.close();
  if (marker_ != nullptr) marker_->DisposeEnvironment();
  marker_ = nullptr;
  LockGuard guard(lock_, vm_.services);
  forgotten_ = kept_;
  kept_ = {};
  count_.store(0, std::memory_order_relaxed);
}

jobject ObjectFinder::find(JNIEnv* jni, jobjectID id) {
  const uint64_t number = number_of_id(id);
  jobject found = kept(jni, number);
  if (found != nullptr || !ids_.was_given(number)) return found;
  ObjectFact fact;
  if (searches_.load(std::memory_order_relaxed) >= kSearches && facts_.find(number, &fact) &&
      !busy_.exchange(true, std::memory_order_acq_rel)) {
    if (count_.load(std::memory_order_relaxed) >= kMost) forget_all(jni);
    Local<jclass> cls(jni, classes_.find(jni, fact.cls));
    while (found == nullptr && cls != nullptr && keep_some(jni, cls)) found = kept(jni, number);
    busy_.store(false, std::memory_order_release);
    return found;
  }
  searches_.fetch_add(1, std::memory_order_relaxed);
  found = ids_.find(jni, id);
  if (found != nullptr) keep(jni, found, number);
  return found;
}

}  // namespace hprof::jvmpi
