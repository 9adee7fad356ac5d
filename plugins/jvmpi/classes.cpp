#include "classes.h"

#include <hprof/cpp/jni_exception.hpp>

namespace hprof::jvmpi {

bool Classes::open() {
  constexpr uint64_t kFirst = 4096, kMost = 1u << 22;
  return table_.open(vm_.services, kFirst, kMost) && owners_.open(vm_.services, kFirst * 4, kMost);
}

uint64_t Classes::number(JNIEnv* jni, jclass cls, jlong* tag) {
  *tag = ids_.tag(cls, kClass);
  const uint64_t number = number_of_tag(*tag);
  Slot* slot = table_.make(number);
  if (slot == nullptr) return number;
  if (slot->info.load(std::memory_order_acquire) == nullptr) make(jni, cls, number, slot);
  return number;
}

bool Classes::is_hidden(jmethodID method) const {
  const uint32_t count = hidden_count_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count && i < kHiddenMost; i++) {
    if (hidden_[i].load(std::memory_order_acquire) == method) return true;
  }
  return false;
}

bool Classes::returns_object(jmethodID method) const {
  const Owner* owner = owners_.find(reinterpret_cast<uintptr_t>(method));
  if (owner != nullptr && owner->number.load(std::memory_order_acquire) != 0)
    return owner->returns_object.load(std::memory_order_relaxed);
  FromVm<char> signature(vm_);
  return vm_.jvmti->GetMethodName(method, nullptr, &signature, nullptr) == JVMTI_ERROR_NONE &&
         gives_object(signature);
}

bool Classes::is_told_of(jmethodID method) const {
  const Owner* owner = owners_.find(reinterpret_cast<uintptr_t>(method));
  return owner != nullptr && owner->number.load(std::memory_order_acquire) != 0;
}

bool Classes::is_told(uint64_t number) const {
  const Slot* slot = table_.find(number);
  return slot != nullptr && slot->state.load(std::memory_order_acquire) == kDone;
}

const ClassInfo* Classes::info(uint64_t number) const {
  const Slot* slot = table_.find(number);
  return slot != nullptr ? slot->info.load(std::memory_order_acquire) : nullptr;
}

jclass Classes::find(JNIEnv* jni, uint64_t number) const {
  const ClassInfo* of = info(number);
  if (of == nullptr || of->ref == nullptr) return nullptr;
  return static_cast<jclass>(without_exception(jni, jni->NewLocalRef(of->ref)));
}

jmethodID Classes::current(JNIEnv* jni, jmethodID method) {
  if (is_told_of(method)) return method;
  Local<jclass> cls(jni, nullptr);
  FromVm<char> name(vm_), signature(vm_);
  if (vm_.jvmti->GetMethodDeclaringClass(method, &cls) != JVMTI_ERROR_NONE ||
      vm_.jvmti->GetMethodName(method, &name, &signature, nullptr) != JVMTI_ERROR_NONE)
    return method;
  const ClassInfo* known = info(number(jni, cls));
  const bool is_filled = known != nullptr && known->is_filled.load(std::memory_order_acquire);
  for (jint i = 0; is_filled && i < known->load.num_methods; i++) {
    const JVMPI_Method& of = known->load.methods[i];
    if (std::strcmp(of.method_name, name) == 0 && std::strcmp(of.method_signature, signature) == 0)
      return of.method_id;
  }
  return method;
}

jobjectID Classes::class_of(JNIEnv* jni, jmethodID method) {
  const Owner* owner = owners_.find(reinterpret_cast<uintptr_t>(method));
  const uint64_t known = owner != nullptr ? owner->number.load(std::memory_order_acquire) : 0;
  if (known != 0) return id_of_number(known);
  Local<jclass> cls(jni, nullptr);
  if (method == nullptr || vm_.jvmti->GetMethodDeclaringClass(method, &cls) != JVMTI_ERROR_NONE)
    return nullptr;
  return id_of_number(number(jni, cls));
}

}  // namespace hprof::jvmpi
