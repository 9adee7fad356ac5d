// The hotspot service.
#include <new>

#include <hprof/draft/hotspot.h>

#include "core/agent/service_tables.h"
#include "core/agent/session_parts.h"
#include "core/agent/unit_slot.h"
#include "core/base/build.h"
#include "core/base/memory_account.h"
#include "core/hotspot/hotspot.h"
#include "core/modules/hotspot/allocate_instance.h"
#include "core/modules/hotspot/frame_walk.h"
#include "core/modules/hotspot/jni_table.h"
#include "core/modules/hotspot/object_address.h"
#include "core/modules/hotspot/object_header.h"
#include "core/modules/hotspot/weak_address.h"
#include "core/modules/hotspot/weak_reuse.h"

namespace hprof {

namespace {

const SessionParts& parts_of(const hprof_host* host) { return *slot_of(host)->parts; }
HotSpot& hotspot_of(const hprof_host* host) { return parts_of(host).hotspot; }
FrameWalk* walk_of(hprof_frame_walk* walk) { return reinterpret_cast<FrameWalk*>(walk); }

uint32_t read_flag(const hprof_host* host, const char* name, void* value, uint32_t size) {
  return hotspot_of(host).flags().read(name, value, size) ? 1 : 0;
}

uint32_t use_precise_code(const hprof_host* host) { return hotspot_of(host).use_precise_code() ? 1 : 0; }

void* async_get_call_trace(const hprof_host* host) { return hotspot_of(host).async_get_call_trace(); }

void* compiled_method(const hprof_host* host, uint64_t pc) {
  return hotspot_of(host).code_heap().method_at(static_cast<uintptr_t>(pc));
}

const uint32_t* unload_count(const hprof_host* host) { return hotspot_of(host).unload_count(); }
const uint32_t* collection_count(const hprof_host* host) { return hotspot_of(host).collection_count(); }

// --- objects

uint32_t object_header(const hprof_host* host, hprof_object_header* header) {
  HotSpot& hotspot = hotspot_of(host);
  hprof_object_header found = {};
  const char* why = read_object_header(hotspot.flags(), &found);
  if (!hotspot.settle(Item::kObjectHeader, why)) return 0;
  hprof_copy_sized(header, header->size, &found, sizeof(found));
  return 1;
}

uint32_t object_places(const hprof_host* host, void* jvmti, void* jni, hprof_object_places* places) {
  HotSpot& hotspot = hotspot_of(host);
  hprof_object_places found = {};
  const char* why = nullptr;
  if (hotspot.is_on(Item::kObjectAddresses)) {
    why =
        find_object_places(hotspot.flags(), static_cast<jvmtiEnv*>(jvmti), static_cast<JNIEnv*>(jni), &found);
  }
  if (!hotspot.settle(Item::kObjectAddresses, why)) return 0;
  hprof_copy_sized(places, places->size, &found, sizeof(found));
  return 1;
}

uint64_t weaks_are_gone(const hprof_host* host, void* jni, void* const* weaks, uint32_t count) {
  return hotspot_of(host).are_gone(static_cast<JNIEnv*>(jni), weaks, count);
}

uint32_t weak_addresses(const hprof_host* host, void* jvmti, void* jni) {
  HotSpot& hotspot = hotspot_of(host);
  const char* why = nullptr;
  if (hotspot.is_on(Item::kWeakAddresses))
    why = prove_weak_addresses(hotspot, static_cast<jvmtiEnv*>(jvmti), static_cast<JNIEnv*>(jni));
  return hotspot.settle(Item::kWeakAddresses, why) ? 1 : 0;
}

uint64_t weak_address(const hprof_host*, void* weak) { return address_of_weak(static_cast<jweak>(weak)); }

uint32_t open_weak_reuse(const hprof_host* host, void* jni) {
  HotSpot& hotspot = hotspot_of(host);
  hotspot.want_collections();
  if (jni == nullptr) return hotspot.wants_collections() ? 1 : 0;
  const char* why = nullptr;
  if (hotspot.is_on(Item::kWeakReuse))
    why = weak_reuse.open(hotspot, parts_of(host).settings.java_version, static_cast<JNIEnv*>(jni));
  return hotspot.settle(Item::kWeakReuse, why) ? 1 : 0;
}

uint32_t use_weak_again(void* jni, void* weak, void* object, hprof_weak_thread* thread) {
  return weak_reuse.use_again(static_cast<JNIEnv*>(jni), static_cast<jweak>(weak),
                              static_cast<jobject>(object), thread)
             ? 1
             : 0;
}

uint32_t watch_native_objects(const hprof_host* host, NativeObjectMade made, void* self) {
  HotSpot& hotspot = hotspot_of(host);
  const bool done = hotspot.is_on(Item::kJniTable) && replace_jni_table(parts_of(host).jvmti, made, self);
  return hotspot.settle(Item::kJniTable, done ? nullptr : "it cannot be replaced") ? 1 : 0;
}

uint32_t quiet_allocate_instance(const hprof_host* host, void* jni) {
  HotSpot& hotspot = hotspot_of(host);
  const bool done =
      hotspot.is_on(Item::kAllocateInstance) && replace_allocate_instance(static_cast<JNIEnv*>(jni));
  return hotspot.settle(Item::kAllocateInstance, done ? nullptr : "it cannot be replaced") ? 1 : 0;
}

// --- the walk

hprof_frame_walk* open_walk(const hprof_host* host, void* jni, const char** why) {
  const SessionParts& parts = parts_of(host);
  auto* env = static_cast<JNIEnv*>(jni);
  HotSpot& hotspot = parts.hotspot;
  *why = "no memory for it";
  void* memory = parts.memory.allocate(sizeof(FrameWalk));
  if (memory == nullptr) return nullptr;
  auto* walk = new (memory) FrameWalk;
  const uint64_t thread = hotspot.is_on(Item::kFrameWalk) ? thread_address(parts.jvmti, env) : 0;
  *why = hotspot.is_on(Item::kFrameWalk) ? walk->open(hotspot, parts.settings.java_version, env, thread)
                                         : HotSpot::why_off(Item::kFrameWalk);
  if (hotspot.settle(Item::kFrameWalk, *why)) return reinterpret_cast<hprof_frame_walk*>(walk);
  parts.memory.release(memory, sizeof(FrameWalk));
  return nullptr;
}

uint32_t walk_hide(hprof_frame_walk* walk, const void* jni, const void* method) {
  return walk_of(walk)->hide(jni, method) ? 1 : 0;
}

void walk_trust_code(hprof_frame_walk* walk, const uint32_t* epoch) { walk_of(walk)->trust_code(epoch); }

uint64_t walk_key(hprof_frame_walk* walk, const void* jni, uint32_t depth, uint64_t what,
                  hprof_walk_thread* thread) {
  return walk_of(walk)->key(jni, depth, what, thread);
}

uint32_t walk_learn(hprof_frame_walk* walk, const void* jni, const hprof_raw_frame* frames, uint32_t count,
                    hprof_walk_thread* thread) {
  return walk_of(walk)->learn(jni, frames, count, thread) ? 1 : 0;
}

uint32_t walk_frames(hprof_frame_walk* walk, const void* jni, uint32_t depth, uint32_t learns,
                     hprof_raw_frame* frames, hprof_walk_thread* thread) {
  return walk_of(walk)->frames(jni, depth, learns != 0, frames, thread);
}

void walk_distrust(hprof_frame_walk* walk) { walk_of(walk)->distrust("a key stood for two stacks"); }

// Functions used only by units that are not in this build are not linked.
template <typename Function>
constexpr Function* for_unit(bool in_build, Function* function) {
  return in_build ? function : nullptr;
}

const hprof_hotspot_service kHotspot = {
    sizeof(hprof_hotspot_service),
    sizeof(SeenCode),
    &read_flag,
    &use_precise_code,
    &async_get_call_trace,
    &compiled_method,
    nullptr,
    for_unit(kHasHeapSites, &object_header),
    for_unit(kHasHeapDump, &object_places),
    for_unit(kHasHeapSites, &weaks_are_gone),
    for_unit(kHasHeapSites, &watch_native_objects),
    for_unit(kHasHeapSites, &quiet_allocate_instance),
    for_unit(kHasHeapSites, &open_walk),
    for_unit(kHasHeapSites, &walk_hide),
    for_unit(kHasHeapSites, &walk_trust_code),
    for_unit(kHasHeapSites, &walk_key),
    for_unit(kHasHeapSites, &walk_learn),
    for_unit(kHasHeapSites, &walk_distrust),
    for_unit(kHasHeapSites, &weak_addresses),
    for_unit(kHasHeapSites, &weak_address),
    sizeof(StackChains) + alignof(StackChains),
    0,
    for_unit(kHasHeapSites, &walk_frames),
    for_unit(kHasHeapSites, &open_weak_reuse),
    for_unit(kHasHeapSites, &use_weak_again),
    &collection_count,
    for_unit(kHasHeapSites, &unload_count),
};

}  // namespace

const void* hotspot_service() { return &kHotspot; }

}  // namespace hprof
