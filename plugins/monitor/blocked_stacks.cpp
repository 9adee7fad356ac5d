#include "blocked_stacks.h"

#include <hprof/cpp/depth.hpp>

namespace hprof::monitor {

static_assert(sizeof(jvmtiFrameInfo) == sizeof(hprof_raw_frame), "stacks are passed on as they are");

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

void BlockedStacks::set_depth(uint64_t depth) {
  depth_.store(depth_within(services_, "monitor", depth, kMostFrames));
}

bool BlockedStacks::open(const Services& services, jvmtiEnv* jvmti) {
  services_ = services;
  jvmti_ = jvmti;
  labels_.open(services);
  slots_ = services.allocate<Slot>(kSlots);
  set_depth(services.settings().depth);
  return slots_ != nullptr;
}

void BlockedStacks::close() {
  services_.release(slots_, kSlots);
  slots_ = nullptr;
}

hprof_trace_serial BlockedStacks::stand_in(hprof_thread_serial thread, const char* name,
                                           hprof_string_id set) const {
  hprof_frame_id frames[1 + Labels::kMostFrames];
  frames[0] = services_.ids->synthetic_frame(services_.host, "JVM", name);
  return frames[0] == 0 ? 0 : labels_.trace(shown(thread), frames, 1, 0, set);
}

hprof_trace_serial BlockedStacks::name(void* jni, hprof_thread_serial thread, const jvmtiFrameInfo* frames,
                                       uint32_t count, bool held, hprof_string_id set) const {
  hprof_frame_id ids[kMostFrames + Labels::kMostFrames];
  for (uint32_t i = 0; i < count; i++) {
    hprof_raw_frame raw = {frames[i].method, frames[i].location};
    ids[i] = services_.ids->frame(services_.host, jni, &raw, held ? 1 : 0);
  }
  return labels_.trace(shown(thread), ids, count, trace_flags(count, depth()), set);
}

hprof_trace_serial BlockedStacks::of_frames(void* jni, hprof_thread_serial thread,
                                            const jvmtiFrameInfo* frames, uint32_t count, bool held,
                                            hprof_string_id set) {
  if (count > kMostFrames) count = kMostFrames;
  if (count == 0) return stand_in(thread, depth() == 0 ? "depth_zero" : "no_java_frame", set);
  // The collection count is read before any frame is named, so the entry is invalid after a collection
  // meanwhile.
  uint64_t hash = mix(mix(0x51ed270b9f4a7c15ull, collections()), uint64_t{set} << 32 | shown(thread));
  for (uint32_t i = 0; i < count; i++) {
    hash = mix(hash, reinterpret_cast<uintptr_t>(frames[i].method));
    hash = mix(hash, static_cast<uint64_t>(frames[i].location));
  }
  Slot& slot = slots_[hash >> 40 & (kSlots - 1)];
  uint64_t trace = slot.trace_and_hash.load(std::memory_order_relaxed) ^ hash;
  if (slot.hash.load(std::memory_order_relaxed) == hash && trace != 0 && trace <= UINT32_MAX) {
    return static_cast<hprof_trace_serial>(trace);
  }
  hprof_trace_serial made = name(jni, thread, frames, count, held, set);
  if (made != 0 && !forget_always_) {
    slot.hash.store(hash, std::memory_order_relaxed);
    slot.trace_and_hash.store(made ^ hash, std::memory_order_relaxed);
  }
  return made;
}

hprof_trace_serial BlockedStacks::of_current(void* jni, hprof_thread_serial thread) {
  jvmtiFrameInfo frames[kMostFrames];
  jint count = 0;
  uint32_t most = depth();
  if (most != 0 &&
      jvmti_->GetStackTrace(nullptr, 0, static_cast<jint>(most), frames, &count) != JVMTI_ERROR_NONE) {
    count = 0;
  }
  return of_frames(jni, thread, frames, static_cast<uint32_t>(count), true, labels_.current(jni, thread));
}

}  // namespace hprof::monitor
