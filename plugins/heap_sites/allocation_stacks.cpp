#include "allocation_stacks.h"

#include <cstring>

#include <hprof/cpp/depth.hpp>
#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/jni_exception.hpp>

namespace hprof::sites {

static_assert(sizeof(jvmtiFrameInfo) == sizeof(hprof_raw_frame), "stacks are passed on as they are");

struct MethodName {
  const char* owner;
  const char* name;
  const char* signature;
  bool is_static;
};

static jmethodID find_method(JNIEnv* jni, const MethodName& of) {
  jclass owner = jni->FindClass(of.owner);
  jmethodID method = nullptr;
  if (owner != nullptr)
    method = of.is_static ? jni->GetStaticMethodID(owner, of.name, of.signature)
                          : jni->GetMethodID(owner, of.name, of.signature);
  clear_exception(jni);
  if (owner != nullptr) jni->DeleteLocalRef(owner);
  return method;
}

void AllocationStacks::set_depth(uint64_t depth) {
  depth_.store(depth_within(services_, "heap=sites", depth, kMostFrames));
}

bool AllocationStacks::open(const Services& services, JNIEnv* jni) {
  constexpr const char* kNewInstance =
      "(Ljava/lang/reflect/Constructor;[Ljava/lang/Object;)Ljava/lang/Object;";
  constexpr MethodName kProbes[] = {{kTargetClass, "allocatedObject", "(Ljava/lang/Object;J)V", true},
                                    {kTargetClass, "tell", "(Ljava/lang/Object;)V", true},
                                    {kTargetClass, "allocated", "(Ljava/lang/Object;)V", true},
                                    {kTargetClass, "allocatedArrays", "(Ljava/lang/Object;I)V", true}};
  // The methods whose results probes in their callers report. From the fourth on they run a constructor.
  constexpr MethodName kReported[] = {
      {"java/lang/Object", "clone", "()Ljava/lang/Object;", false},
      {"java/lang/reflect/Array", "newArray", "(Ljava/lang/Class;I)Ljava/lang/Object;", true},
      {"jdk/internal/misc/Unsafe", "allocateInstance", "(Ljava/lang/Class;)Ljava/lang/Object;", false},
      {"jdk/internal/reflect/NativeConstructorAccessorImpl", "newInstance0", kNewInstance, true},
      {"jdk/internal/reflect/DirectConstructorHandleAccessor$NativeAccessor", "newInstance0", kNewInstance,
       true},
      {"sun/reflect/NativeConstructorAccessorImpl", "newInstance0", kNewInstance, true}};
  static_assert(sizeof kProbes / sizeof kProbes[0] == kProbeCount, "room");
  static_assert(sizeof kReported / sizeof kReported[0] == kReportedMethods, "room");
  services_ = services;
  jvmti_ = static_cast<jvmtiEnv*>(services.jvm->jvmti(services.host));
  set_depth(services.settings().depth);
  if (jni == nullptr) return true;
  bool found = true;
  for (uint32_t i = 0; i < kProbeCount; i++) {
    probes_[i] = find_method(jni, kProbes[i]);
    found = found && probes_[i] != nullptr;
  }
  for (uint32_t i = 0; i < kReportedMethods; i++) reported_[i] = find_method(jni, kReported[i]);
  object_init_ = find_method(jni, {"java/lang/Object", "<init>", "()V", false});
  return found && object_init_ != nullptr;
}

// Calls a method of HprofObjects (by number) or Object.<init>, with arguments that have no effect.
void AllocationStacks::call_probe(JNIEnv* jni, uint32_t number) {
  jclass targets = jni->FindClass(kTargetClass);
  jclass object = jni->FindClass("java/lang/Object");
  if (targets != nullptr && object != nullptr) {
    hidden_call_thread_.store(jni, std::memory_order_relaxed);
    switch (number) {
      case 0:
        jni->CallStaticVoidMethod(targets, probes_[0], targets, jlong{0});
        break;
      case 1:
      case 2:
        jni->CallStaticVoidMethod(targets, probes_[number], targets);
        break;
      case 3:
        jni->CallStaticVoidMethod(targets, probes_[number], targets, jint{1});
        break;
      default:
        jni->CallNonvirtualVoidMethod(targets, object, object_init_);
    }
    hidden_call_thread_.store(nullptr, std::memory_order_relaxed);
  }
  clear_exception(jni);
  if (targets != nullptr) jni->DeleteLocalRef(targets);
  if (object != nullptr) jni->DeleteLocalRef(object);
}

bool AllocationStacks::is_probe(jmethodID method) const {
  for (jmethodID probe : probes_) {
    if (probe == method) return true;
  }
  return false;
}

uint32_t AllocationStacks::skipped(const jvmtiFrameInfo* frames, uint32_t count) const {
  uint32_t at = 0;
  while (at < count && is_probe(frames[at].method)) at++;
  return at < count && frames[at].method == object_init_ ? at + 1 : at;
}

uint32_t AllocationStacks::of_current(jvmtiFrameInfo* frames, uint32_t most) const {
  constexpr uint32_t kUsual = 4;  // allocatedObject, tell, allocated, Object.<init>
  jvmtiFrameInfo all[kMostFrames + kUsual];
  if (most == 0) return 0;
  for (uint32_t from = 0;;) {
    jint count = 0;
    if (jvmti_->GetStackTrace(nullptr, static_cast<jint>(from), static_cast<jint>(most + kUsual), all,
                              &count) != JVMTI_ERROR_NONE)
      return 0;
    uint32_t got = static_cast<uint32_t>(count);
    uint32_t skip = skipped(all, got);
    // Multi-dimensional arrays: one frame of the probe for each level.
    if (got == most + kUsual && got - skip < most && skip != 0) {
      from += skip;
      continue;
    }
    uint32_t used = got - skip < most ? got - skip : most;
    for (uint32_t i = 0; i < used; i++) frames[i] = all[skip + i];
    return used;
  }
}

uint64_t AllocationStacks::hash(const jvmtiFrameInfo* frames, uint32_t count) {
  uint64_t hash = 0x51ed270b9f4a7c15ull;
  for (uint32_t i = 0; i < count; i++) {
    hash = mix(hash, reinterpret_cast<uintptr_t>(frames[i].method));
    hash = mix(hash, static_cast<uint64_t>(frames[i].location));
  }
  return hash;
}

void AllocationStacks::name(JNIEnv* jni, const jvmtiFrameInfo* frames, uint32_t count,
                            hprof_frame_id* ids) const {
  for (uint32_t i = 0; i < count; i++) {
    hprof_raw_frame raw = {frames[i].method, frames[i].location};
    ids[i] = services_.ids->frame(services_.host, jni, &raw, 1);
  }
}

hprof_trace_serial AllocationStacks::trace(JNIEnv* jni, MadeFor whom, const jvmtiFrameInfo* frames,
                                           uint32_t count) const {
  hprof_frame_id ids[kMostFrames];
  name(jni, frames, count, ids);
  return trace(whom, ids, count);
}

// Without frames it has the one frame JVM.<why>.
hprof_trace_serial AllocationStacks::trace(MadeFor whom, const hprof_frame_id* ids, uint32_t count) const {
  const uint32_t flags = count != 0 ? trace_flags(count, depth()) : 0;
  const hprof_frame_id none = count != 0
                                  ? 0
                                  : services_.ids->synthetic_frame(
                                        services_.host, "JVM", depth() == 0 ? "depth_zero" : "no_java_frame");
  if (count == 0 && none == 0) return 0;
  if (count == 0) {
    ids = &none;
    count = 1;
  }
  if (whom.labels == 0) return services_.ids->trace(services_.host, whom.thread, ids, count, flags);
  hprof_frame_id frames[kMostFrames + Labels::kMostFrames];
  std::memcpy(frames, ids, count * sizeof ids[0]);
  return labels_.trace(whom.thread, frames, count, flags, whom.labels);
}

// A method that native code called has no caller with a probe.
bool AllocationStacks::is_reported_by_caller() const {
  jvmtiFrameInfo frames[2];
  jint count = 0;
  if (jvmti_->GetStackTrace(nullptr, 0, 2, frames, &count) != JVMTI_ERROR_NONE) return false;
  if (count < 2 || frames[1].location < 0) return false;
  for (jmethodID method : reported_) {
    if (method != nullptr && frames[0].method == method) return true;
  }
  return false;
}

}  // namespace hprof::sites
