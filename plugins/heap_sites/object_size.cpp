#include "object_size.h"

#include "collector.h"

namespace hprof::sites {

uint32_t element_shift(const char* signature, uint32_t reference_shift) {
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

uint64_t Collector::measure(jobject object) const {
  auto* jvmti = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
  jlong size = 0;
  return jvmti->GetObjectSize(object, &size) == JVMTI_ERROR_NONE ? static_cast<uint64_t>(size) : 0;
}

ObjectClass Collector::describe(JNIEnv* jni, jobject object) const {
  auto* jvmti = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
  ObjectClass made = {0, kMeasured};
  jclass of = jni->GetObjectClass(object);
  char* signature = nullptr;
  if (of == nullptr || jvmti->GetClassSignature(of, &signature, nullptr) != JVMTI_ERROR_NONE) return made;
  made.serial = services_.ids->class_serial(services_.host, jni, of);
  if (signature[0] != '[') {
    const uint64_t size = measure(object);
    if (size < kArraySize) made.size = static_cast<uint32_t>(size);
  } else if (header_.length_shift != 0) {
    made.size = array_size(element_shift(signature, header_.reference_shift));
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
  jni->DeleteLocalRef(of);
  return made;
}

// The class of the object, from the thread's cache or the VM. The cache is valid.
ObjectClass Collector::class_of(JNIEnv* jni, AllocatingThread* state, jobject object,
                                uint64_t class_key) const {
  if (const ObjectClass* known = state->stacks.classes.find(class_key)) return *known;
  const ObjectClass made = describe(jni, object);
  if (made.serial != 0) state->stacks.classes.put(services_, class_key, made);
  return made;
}

// Asks the VM, and compares the computed size of an array. A difference ends the computing of sizes of its
// class on this thread. *word becomes that of the class.
uint64_t Collector::checked_size(AllocatingThread* state, uint32_t* word, uint64_t class_key, jobject object,
                                 uint64_t header) const {
  stacks_.forget_stale(&state->stacks);
  ObjectClass* of = *word != kMeasured ? state->stacks.classes.find(class_key) : nullptr;
  if (of != nullptr) *word = of->size;
  if (of != nullptr && is_computed(*word)) return hprof_array_size(&header_, header, shift_in(*word));
  const uint64_t size = measure(object);
  if (of == nullptr || *word == kMeasured) return size;
  *word -= kOneCheck;
  if (hprof_array_size(&header_, header, shift_in(*word)) != size) *word = kMeasured;
  of->size = *word;
  return size;
}

}  // namespace hprof::sites
