#include "submit_stacks.h"

#include <hprof/cpp/depth.hpp>
#include <hprof/cpp/hash_table.hpp>

namespace hprof::queues {

bool SubmitStacks::open(const Services& services) {
  services_ = services;
  jvmti_ = services.jvm != nullptr ? static_cast<jvmtiEnv*>(services.jvm->jvmti(services.host)) : nullptr;
  slots_ = services.allocate<Slot>(kSlots);
  depth_ = depth_within(services, "queues", services.settings().depth, kMostFrames);
  return jvmti_ != nullptr && slots_ != nullptr;
}

void SubmitStacks::close() {
  services_.release(slots_, kSlots);
  slots_ = nullptr;
}

bool SubmitStacks::is_of_executor(hprof_frame_id frame) const {
  const hprof_text name = class_name_of(services_.ids, services_.host, frame);
  return begins_with(name, "java.util.concurrent.") || begins_with(name, "java.lang.VirtualThread") ||
         begins_with(name, "java.lang.Thread") || begins_with(name, "java.lang.System$");
}

hprof_trace_serial SubmitStacks::name(JNIEnv* jni, const jvmtiFrameInfo* frames, uint32_t count) const {
  hprof_frame_id ids[kMostFrames + kMostOwn];
  for (uint32_t i = 0; i < count; i++) {
    const hprof_raw_frame raw = {frames[i].method, frames[i].location};
    ids[i] = services_.ids->frame(services_.host, jni, &raw, 1);
  }
  uint32_t first = 0;
  while (first < count && is_of_executor(ids[first])) first++;
  if (first == count) first = 0;
  const uint32_t kept = count - first < depth_ ? count - first : depth_;
  return services_.ids->trace(services_.host, 0, ids + first, kept, trace_flags(kept, depth_));
}

hprof_trace_serial SubmitStacks::of_current(JNIEnv* jni) {
  jvmtiFrameInfo frames[kMostFrames + kMostOwn];
  jint found = 0;
  const auto most = static_cast<jint>(depth_ + kMostOwn);
  // Without the native method and the target.
  if (depth_ == 0 || jvmti_->GetStackTrace(nullptr, 2, most, frames, &found) != JVMTI_ERROR_NONE ||
      found == 0)
    return 0;
  const auto count = static_cast<uint32_t>(found);
  uint64_t hash = mix(count, collections_.load(std::memory_order_relaxed));
  for (uint32_t i = 0; i < count; i++) {
    hash = mix(hash, reinterpret_cast<uintptr_t>(frames[i].method));
    hash = mix(hash, static_cast<uint64_t>(frames[i].location));
  }
  Slot& slot = slots_[hash % kSlots];
  const uint64_t known = slot.trace_and_hash.load(std::memory_order_relaxed) ^ hash;
  if (slot.hash.load(std::memory_order_relaxed) == hash && known != 0 && known <= UINT32_MAX)
    return static_cast<hprof_trace_serial>(known);
  const hprof_trace_serial trace = name(jni, frames, count);
  slot.hash.store(hash, std::memory_order_relaxed);
  slot.trace_and_hash.store(trace ^ hash, std::memory_order_relaxed);
  return trace;
}

}  // namespace hprof::queues
