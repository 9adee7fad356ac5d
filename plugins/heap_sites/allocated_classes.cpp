#include "allocated_classes.h"

#include <hprof/cpp/jni_exception.hpp>

namespace hprof::sites {

uint32_t AllocatedClasses::element_shift(const char* signature, uint32_t reference_shift) {
  switch (signature[1]) {
    case 'Z':
    case 'B':
      return 0;
    case 'C':
    case 'S':
      return 1;
    case 'I':
    case 'F':
      return 2;
    case 'J':
    case 'D':
      return 3;
    default:
      return reference_shift;
  }
}

bool AllocatedClasses::open(const Services& services, const hprof_object_header& header) {
  services_ = services;
  header_ = header;
  jvmti_ = static_cast<jvmtiEnv*>(services.jvm->jvmti(services.host));
  return numbers_.is_open() || numbers_.open(services, kFirstSlots, Entries::kMost + 1);
}

uint64_t AllocatedClasses::measure(jobject object) const {
  jlong size = 0;
  return jvmti_->GetObjectSize(object, &size) == JVMTI_ERROR_NONE ? static_cast<uint64_t>(size) : 0;
}

bool AllocatedClasses::describe(JNIEnv* jni, jobject object, AllocatedClass* made) {
  made->reference = nullptr;
  made->size = made->shift = 0;
  jclass of = jni->GetObjectClass(object);
  char* signature = nullptr;
  if (of == nullptr || jvmti_->GetClassSignature(of, &signature, nullptr) != JVMTI_ERROR_NONE) return false;
  made->serial = services_.ids->class_serial(services_.host, jni, of);
  made->reference = without_exception(jni, jni->NewWeakGlobalRef(of));
  if (signature[0] == '[') {
    made->shift = element_shift(signature, header_.reference_shift);
    made->checks.store(header_.length_shift != 0 ? kChecks : kMeasured, std::memory_order_relaxed);
  } else {
    uint64_t size = measure(object);
    made->size = size < kByHeader ? static_cast<uint32_t>(size) : 0;
    made->checks.store(kMeasured, std::memory_order_relaxed);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(signature));
  jni->DeleteLocalRef(of);
  return made->reference != nullptr && made->serial != 0;
}

uint32_t AllocatedClasses::find(JNIEnv* jni, jobject object, uint64_t key, uint32_t unloads) {
  std::atomic<uint32_t>* number = numbers_.make(key);
  if (number == nullptr) return 0;
  uint32_t known = number->load(std::memory_order_acquire);
  if (known != 0 && is_there(jni, known, unloads)) return known;
  AllocatedClass* made = entries_.take(services_);
  if (made == nullptr) return 0;
  made->unloads.store(unloads, std::memory_order_relaxed);
  const bool described = describe(jni, object, made);
  if (described && number->compare_exchange_strong(known, made->number, std::memory_order_acq_rel))
    return made->number;
  if (made->reference != nullptr) jni->DeleteWeakGlobalRef(made->reference);
  entries_.give_back(made);
  return described ? known : 0;  // another thread has taken the number
}

bool AllocatedClasses::is_there(JNIEnv* jni, uint32_t number, uint32_t unloads) {
  AllocatedClass& entry = entries_[number];
  if (entry.unloads.load(std::memory_order_relaxed) == unloads) return true;
  if (jni->IsSameObject(entry.reference, nullptr)) return false;
  entry.unloads.store(unloads, std::memory_order_relaxed);
  return true;
}

uint64_t AllocatedClasses::checked_size(uint32_t number, jobject object, uint64_t header) {
  AllocatedClass& entry = entries_[number];
  uint32_t checks = entry.checks.load(std::memory_order_relaxed);
  if (checks == kMeasured) return measure(object);
  uint64_t size = hprof_array_size(&header_, header, entry.shift);
  if (checks == 0) return size;
  uint64_t real = measure(object);
  entry.checks.store(real == size ? checks - 1 : kMeasured, std::memory_order_relaxed);
  return real;
}

}  // namespace hprof::sites
