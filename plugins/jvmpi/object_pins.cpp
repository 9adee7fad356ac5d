#include "object_pins.h"

namespace hprof::jvmpi {

void ObjectPins::keep(JNIEnv* jni, jobject object, uint64_t number) {
  jobject made = vm_.new_global(jni, object);
  {
    LockGuard guard(lock_, vm_.services);
    jobject* pin = pins_.is_open() || pins_.open(vm_.services) ? pins_.make(number) : nullptr;
    if (pin != nullptr && *pin == nullptr) {
      *pin = made;
      made = nullptr;
    }
  }
  if (made != nullptr) vm_.delete_global(jni, made);
}

// A thread that the VM does not know leaves the objects to the next release.
void ObjectPins::release() {
  uint32_t holds = holds_.load(std::memory_order_relaxed);
  while (holds != 0 && !holds_.compare_exchange_weak(holds, holds - 1, std::memory_order_acq_rel)) {
  }
  JNIEnv* jni = vm_.jni();
  if (holds != 1 || jni == nullptr) return;
  Pages<jobject> old;
  {
    LockGuard guard(lock_, vm_.services);
    old = pins_;
    pins_ = {};
  }
  old.each([&](jobject pin) {
    if (pin != nullptr) vm_.delete_global(jni, pin);
  });
  old.close();
}

}  // namespace hprof::jvmpi
