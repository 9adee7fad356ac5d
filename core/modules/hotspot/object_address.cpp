// Verifies that an object's address can be found beside its tag.
#include "core/modules/hotspot/object_address.h"

#include <cstring>

#include <hprof/cpp/jni_exception.hpp>

namespace hprof {

namespace {

constexpr hprof_object_offsets kOffsets = {sizeof(hprof_object_offsets), -2, -1, -1};

constexpr jsize kElements = 5;

// Results of a walk from an array {numbers, numbers, others, the array itself, boxed}.
struct Probe {
  uint64_t array;
  uint64_t elements[kElements];
  uint64_t primitive_arrays[2];  // as on_array gets them
  uint64_t boxed;                // as on_field gets it
  uint32_t element_count;
  uint32_t array_count;
  bool differs;  // a result is wrong
};

jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong, jlong,
                          jlong size, jlong* tag, jlong* referrer_tag, jint, void* user) {
  auto& probe = *static_cast<Probe*>(user);
  if (referrer_tag == nullptr) return 0;
  const uint64_t referrer = hprof_referrer_address(&kOffsets, referrer_tag, tag);
  if (!hprof_has_object_size(&kOffsets, tag, size)) probe.differs = true;
  if (kind != JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT) {
    // The referrer's class is that of one of them.
    bool known = probe.array == 0 || referrer == probe.array;
    for (uint64_t element : probe.elements) known = known || referrer == element;
    if (!known) probe.differs = true;
    return 0;
  }
  const auto index = static_cast<uint32_t>(info->array.index);
  if (probe.array == 0) probe.array = referrer;
  if (probe.array != referrer || index >= kElements) {
    probe.differs = true;
    return 0;
  }
  probe.elements[index] = hprof_object_address(&kOffsets, tag);
  probe.element_count++;
  return JVMTI_VISIT_OBJECTS;
}

jint JNICALL on_field(jvmtiHeapReferenceKind, const jvmtiHeapReferenceInfo*, jlong, jlong* tag, jvalue,
                      jvmtiPrimitiveType, void* user) {
  static_cast<Probe*>(user)->boxed = hprof_object_address(&kOffsets, tag);
  return 0;
}

jint JNICALL on_array(jlong, jlong size, jlong* tag, jint, jvmtiPrimitiveType, const void*, void* user) {
  auto& probe = *static_cast<Probe*>(user);
  if (!hprof_has_object_size(&kOffsets, tag, size) || probe.array_count >= 2) {
    probe.differs = true;
    return 0;
  }
  probe.primitive_arrays[probe.array_count++] = hprof_object_address(&kOffsets, tag);
  return 0;
}

bool is_address(uint64_t value) { return value != 0 && (value & 7) == 0; }

bool is_proved(const Probe& probe) {
  const uint64_t numbers = probe.elements[0];
  const uint64_t others = probe.elements[2];
  const uint64_t boxed = probe.elements[4];
  if (probe.differs || probe.element_count != kElements || probe.array_count != 2) return false;
  if (numbers != probe.elements[1] || probe.elements[3] != probe.array || probe.boxed != boxed) return false;
  const bool matches = (probe.primitive_arrays[0] == numbers && probe.primitive_arrays[1] == others) ||
                       (probe.primitive_arrays[0] == others && probe.primitive_arrays[1] == numbers);
  if (!matches || numbers == others || boxed == numbers || boxed == others) return false;
  if (probe.array == numbers || probe.array == others || probe.array == boxed) return false;
  return is_address(numbers) && is_address(others) && is_address(boxed) && is_address(probe.array);
}

jobject boxed_number(JNIEnv* jni) {
  jclass type = jni->FindClass("java/lang/Long");
  jmethodID box = type != nullptr ? jni->GetStaticMethodID(type, "valueOf", "(J)Ljava/lang/Long;") : nullptr;
  jvalue value;
  value.j = 0x12345678;
  jobject boxed = box != nullptr ? jni->CallStaticObjectMethodA(type, box, &value) : nullptr;
  if (!jni->ExceptionCheck()) return boxed;
  jni->ExceptionClear();
  return nullptr;
}

bool walk_probe(jvmtiEnv* jvmti, JNIEnv* jni, Probe* probe) {
  jclass object = jni->FindClass("java/lang/Object");
  jobjectArray array = object != nullptr ? jni->NewObjectArray(kElements, object, nullptr) : nullptr;
  jobject numbers = array != nullptr ? jni->NewIntArray(3) : nullptr;
  jobject others = numbers != nullptr ? jni->NewIntArray(3) : nullptr;
  jobject boxed = others != nullptr ? boxed_number(jni) : nullptr;
  if (boxed == nullptr) return false;
  const jobject elements[kElements] = {numbers, numbers, others, array, boxed};
  for (jsize i = 0; i < kElements; i++) jni->SetObjectArrayElement(array, i, elements[i]);
  jvmtiHeapCallbacks callbacks;
  memset(&callbacks, 0, sizeof(callbacks));
  callbacks.heap_reference_callback = &on_reference;
  callbacks.primitive_field_callback = &on_field;
  callbacks.array_primitive_value_callback = &on_array;
  return jvmti->FollowReferences(0, nullptr, array, &callbacks, probe) == JVMTI_ERROR_NONE;
}

}  // namespace

const char* find_object_offsets(const VmFlags& flags, jvmtiEnv* jvmti, JNIEnv* jni,
                                hprof_object_offsets* offsets) {
  if (sizeof(void*) != sizeof(jlong)) return "addresses of 32-bit VMs are not known";
  if (!flags.has_plain_heap()) return "this garbage collector moves objects at any time, or marks addresses";
  Probe probe = {};
  const bool has_room = jni->PushLocalFrame(16) == JNI_OK;
  const bool proved = has_room && walk_probe(jvmti, jni, &probe) && is_proved(probe);
  clear_exception(jni);
  if (has_room) jni->PopLocalFrame(nullptr);
  if (!proved) return "a walk over known objects did not show them";
  *offsets = kOffsets;
  return nullptr;
}

}  // namespace hprof
