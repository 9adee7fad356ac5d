#include "core/modules/hotspot/weak_address.h"

#include <cstring>

#include <hprof/cpp/jni_exception.hpp>

#include "core/modules/hotspot/object_address.h"
#include "core/vm_tables/guarded.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

namespace {

constexpr uintptr_t kTagBits = 7;  // of the reference: its kind
constexpr jsize kElements = 2;

// An array of two objects, each with a weak reference, and what the walk found.
struct Probe {
  hprof_object_offsets offsets;
  jweak weak[kElements];
  uint32_t right;
};

jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong, jlong,
                          jlong, jlong* tag, jlong*, jint, void* user) {
  auto& probe = *static_cast<Probe*>(user);
  if (kind != JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT || info->array.index >= kElements) return 0;
  const uint64_t address = hprof_object_address(&probe.offsets, tag);
  if (address != 0 && address == address_of_weak(probe.weak[info->array.index])) probe.right++;
  return 0;
}

bool walk_probe(jvmtiEnv* jvmti, JNIEnv* jni, Probe* probe) {
  jclass object = jni->FindClass("java/lang/Object");
  jobjectArray array = object != nullptr ? jni->NewObjectArray(kElements, object, nullptr) : nullptr;
  for (jsize i = 0; array != nullptr && i < kElements; i++) {
    jobject element = jni->NewIntArray(i);
    if (element == nullptr) return false;
    jni->SetObjectArrayElement(array, i, element);
    probe->weak[i] = jni->NewWeakGlobalRef(element);
    if (probe->weak[i] == nullptr) return false;
  }
  jvmtiHeapCallbacks callbacks;
  memset(&callbacks, 0, sizeof(callbacks));
  callbacks.heap_reference_callback = &on_reference;
  return array != nullptr &&
         jvmti->FollowReferences(0, nullptr, array, &callbacks, probe) == JVMTI_ERROR_NONE;
}

}  // namespace

uint64_t address_of_weak(jweak reference) {
  auto* place = reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(reference) & ~kTagBits);
  uintptr_t word = 0;
  return guarded([&] { word = guarded_read<uintptr_t>(place); }) ? word : 0;
}

const char* prove_weak_addresses(HotSpot& home, jvmtiEnv* jvmti, JNIEnv* jni) {
  Probe probe = {};
  const char* why = find_object_offsets(home.flags(), jvmti, jni, &probe.offsets);
  if (why != nullptr) return why;
  if (!platform::kReadsAreGuarded || !home.hold_guard()) return "reads are not guarded here";
  const bool has_room = jni->PushLocalFrame(16) == JNI_OK;
  const bool proved = has_room && walk_probe(jvmti, jni, &probe) && probe.right == kElements;
  for (jweak each : probe.weak) {
    if (each != nullptr) jni->DeleteWeakGlobalRef(each);
  }
  clear_exception(jni);
  if (has_room) jni->PopLocalFrame(nullptr);
  return proved ? nullptr : "a walk over known objects did not show them";
}

}  // namespace hprof
