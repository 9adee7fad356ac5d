#include "ids.h"

namespace hprof::jvmpi {

bool Ids::lock() {
  constexpr int kTries = 2000;
  constexpr uint64_t kPauseNs = 50'000;
  for (int i = 0; i < kTries; i++) {
    if (lock_.try_lock()) return true;
    vm_.services.threads->pause(vm_.services.host, kPauseNs);
  }
  return false;
}

jlong Ids::tag(jobject object, jlong flags) {
  jlong tag = 0;
  if (object == nullptr || vm_.jvmti->GetTag(object, &tag) != JVMTI_ERROR_NONE) return 0;
  if (tag != 0 && (tag & flags) == flags) return tag;
  const bool locked = lock();
  if (vm_.jvmti->GetTag(object, &tag) == JVMTI_ERROR_NONE) {
    if (tag == 0) {
      tag = tag_new(object, flags);
    } else if ((tag & flags) != flags && vm_.jvmti->SetTag(object, tag | flags) == JVMTI_ERROR_NONE) {
      tag |= flags;  // a class object that got its id as an object
    }
  }
  if (locked) lock_.unlock();
  return tag;
}

jlong Ids::tag_new(jobject object, jlong flags) {
  const uint64_t number = take();
  const jlong tag = static_cast<jlong>(number) | flags;
  return number != 0 && vm_.jvmti->SetTag(object, tag) == JVMTI_ERROR_NONE ? tag : 0;
}

bool Ids::mark_told(jobject object) {
  const bool locked = lock();
  jlong tag = 0;
  const bool fresh = vm_.jvmti->GetTag(object, &tag) == JVMTI_ERROR_NONE && tag != 0 && (tag & kTold) == 0 &&
                     vm_.jvmti->SetTag(object, tag | kTold) == JVMTI_ERROR_NONE;
  if (locked) lock_.unlock();
  return fresh;
}

jobject Ids::find(JNIEnv* jni, jobjectID id) const {
  const auto number = static_cast<jlong>(number_of_id(id));
  if (!was_given(static_cast<uint64_t>(number))) return nullptr;
  const jlong tags[] = {number, number | kTold, number | kClass, number | kClass | kTold};
  jint count = 0;
  FromVm<jobject> objects(vm_);
  if (vm_.jvmti->GetObjectsWithTags(4, tags, &count, &objects, nullptr) != JVMTI_ERROR_NONE) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true, std::memory_order_relaxed))
      vm_.services.log->message(vm_.services.host,
                                "jvmpi: the VM has no memory to look up an object by its id");
    return nullptr;
  }
  for (jint i = 1; i < count; i++) jni->DeleteLocalRef(objects[i]);
  return count > 0 ? static_cast<jobject*>(objects)[0] : nullptr;
}

}  // namespace hprof::jvmpi
