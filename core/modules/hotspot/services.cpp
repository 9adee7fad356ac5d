// The services objects, thread_context, vm_counts, walk and weaks.
#include "core/modules/hotspot/services.h"

#include <new>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>
#include <hprof/cpp/service.hpp>
#include <hprof/draft/objects.h>
#include <hprof/draft/thread_context.h>
#include <hprof/draft/vm_counts.h>
#include <hprof/draft/walk.h>
#include <hprof/draft/weaks.h>
#include <hprof/service/jvm.h>
#include <hprof/service/mem.h>

#include "core/modules/hotspot/collection_count.h"
#include "core/modules/hotspot/frame_walk.h"
#include "core/modules/hotspot/jni_table.h"
#include "core/modules/hotspot/object_address.h"
#include "core/modules/hotspot/object_header.h"
#include "core/modules/hotspot/sample_walk.h"
#include "core/modules/hotspot/thread_contexts.h"
#include "core/modules/hotspot/unload_count.h"
#include "core/modules/hotspot/weak_address.h"
#include "core/modules/hotspot/weak_peeks.h"
#include "core/modules/hotspot/weak_reuse.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

namespace {

jvmtiEnv* jvmti_of(const hprof_host* host) {
  return static_cast<jvmtiEnv*>(find_service<hprof_jvm_service>(host, HPROF_SERVICE_JVM)->jvmti(host));
}

const hprof_vm_counts_service kVmCounts = {
    sizeof(hprof_vm_counts_service),
    0,
    [](const hprof_host* host) { return collection_count(hotspot_of(host)); },
    [](const hprof_host* host) { return unload_count(hotspot_of(host)); },
};

jobject JNICALL allocate_instance(JNIEnv* jni, jobject, jclass of) { return alloc_object_untold(jni, of); }

// Replaces the native method Unsafe.allocateInstance by one that calls AllocObject, which does the same (JNI
// specification; both are InstanceKlass::allocate_instance in HotSpot) without a VMObjectAlloc event. Probes
// report these objects, at the method's call or in the constructor that follows. Java 25 makes lambdas with
// it, millions in a run of javac, at about a microsecond per event. The intrinsic is not affected. Call it
// once, in a native method called by a class of the boot loader: the VM warns when others replace its
// natives. False: not replaced.
bool replace_allocate_instance(JNIEnv* jni) {
  char name[] = "allocateInstance", signature[] = "(Ljava/lang/Class;)Ljava/lang/Object;";
  const JNINativeMethod method = {name, signature, reinterpret_cast<void*>(&allocate_instance)};
  constexpr const char* kOwners[] = {"jdk/internal/misc/Unsafe", "sun/misc/Unsafe"};  // JDK 9 and later; 8
  for (const char* owner : kOwners) {
    jclass unsafe = jni->FindClass(owner);
    const bool is_done = unsafe != nullptr && jni->RegisterNatives(unsafe, &method, 1) == JNI_OK;
    clear_exception(jni);
    if (unsafe != nullptr) jni->DeleteLocalRef(unsafe);
    if (is_done) return true;
  }
  return false;
}

uint32_t object_header(const hprof_host* host, hprof_object_header* header) {
  HotSpot& hotspot = hotspot_of(host);
  hprof_object_header found = {};
  const char* why = read_object_header(hotspot.flags(), &found);
  if (!hotspot.settle(Item::kObjectHeader, why)) return 0;
  hprof_copy_sized(header, header->size, &found, sizeof(found));
  return 1;
}

uint32_t object_offsets(const hprof_host* host, void* jvmti, void* jni, hprof_object_offsets* offsets) {
  HotSpot& hotspot = hotspot_of(host);
  hprof_object_offsets found = {};
  const char* why = nullptr;
  if (hotspot.is_on(Item::kObjectAddresses)) {
    why = find_object_offsets(hotspot.flags(), static_cast<jvmtiEnv*>(jvmti), static_cast<JNIEnv*>(jni),
                              &found);
  }
  if (!hotspot.settle(Item::kObjectAddresses, why)) return 0;
  hprof_copy_sized(offsets, offsets->size, &found, sizeof(found));
  return 1;
}

uint32_t watch_natives(const hprof_host* host, NativeObjectMade made, void* self) {
  HotSpot& hotspot = hotspot_of(host);
  const bool done = hotspot.is_on(Item::kJniTable) && replace_jni_table(jvmti_of(host), made, self);
  return hotspot.settle(Item::kJniTable, done ? nullptr : "it cannot be replaced") ? 1 : 0;
}

uint32_t quiet_allocate_instance(const hprof_host* host, void* jni) {
  HotSpot& hotspot = hotspot_of(host);
  const bool done =
      hotspot.is_on(Item::kAllocateInstance) && replace_allocate_instance(static_cast<JNIEnv*>(jni));
  return hotspot.settle(Item::kAllocateInstance, done ? nullptr : "it cannot be replaced") ? 1 : 0;
}

const hprof_objects_service kObjects = {
    sizeof(hprof_objects_service), 0, &object_header, &object_offsets, &watch_natives,
    &quiet_allocate_instance};

WeakPeeks peeks;

uint32_t prove_weak_addresses(const hprof_host* host, void* jvmti, void* jni) {
  HotSpot& hotspot = hotspot_of(host);
  const char* why = nullptr;
  if (hotspot.is_on(Item::kWeakAddresses))
    why = prove_weak_addresses(hotspot, static_cast<jvmtiEnv*>(jvmti), static_cast<JNIEnv*>(jni));
  return hotspot.settle(Item::kWeakAddresses, why) ? 1 : 0;
}

constexpr CollectionHook kAroundReuse = {[] { weak_reuse.begin_collection(); },
                                         [] { weak_reuse.end_collection(); }, [] { weak_reuse.close(); }};

uint32_t open_weak_reuse(const hprof_host* host, void* jni) {
  HotSpot& hotspot = hotspot_of(host);
  const bool is_on = hotspot.is_on(Item::kWeakReuse);
  if (is_on) hotspot.hook_collections(&kAroundReuse);
  if (jni == nullptr) return is_on ? 1 : 0;
  const char* why =
      is_on ? weak_reuse.open(hotspot, hotspot.java_version(), static_cast<JNIEnv*>(jni)) : nullptr;
  return hotspot.settle(Item::kWeakReuse, why) ? 1 : 0;
}

const hprof_weaks_service kWeaks = {
    sizeof(hprof_weaks_service),
    0,
    [](const hprof_host* host, void* jni, void* const* weaks, uint32_t count) {
      return peeks.are_gone(hotspot_of(host), static_cast<JNIEnv*>(jni), weaks, count);
    },
    &prove_weak_addresses,
    [](const hprof_host*, void* weak) { return address_of_weak(static_cast<jweak>(weak)); },
    &open_weak_reuse,
    [](void* jni, void* weak, void* object, hprof_weak_thread* thread) -> uint32_t {
      return weak_reuse.use_again(static_cast<JNIEnv*>(jni), static_cast<jweak>(weak),
                                  static_cast<jobject>(object), thread);
    },
};

FrameWalk* walk_of(hprof_walk* walk) { return reinterpret_cast<FrameWalk*>(walk); }

// Opens a walk of that class. nullptr: it is not available.
template <class Walk>
Walk* open_walk(const hprof_host* host, void* jni, Item item, const char** why) {
  HotSpot& hotspot = hotspot_of(host);
  const Memory& memory = hotspot.memory();
  auto* env = static_cast<JNIEnv*>(jni);
  *why = "no memory for it, or no JNI";
  void* room = env != nullptr ? memory.allocate(memory.context, sizeof(Walk)) : nullptr;
  if (room == nullptr) return nullptr;
  auto* walk = new (room) Walk;
  *why = hotspot.is_on(item)
             ? walk->open(hotspot, hotspot.java_version(), env, thread_address(jvmti_of(host), env))
             : hotspot.why_off(item);
  if (hotspot.settle(item, *why)) return walk;
  memory.release(memory.context, room, sizeof(Walk));
  return nullptr;
}

uint32_t walk_interrupted(const hprof_sample_walk* walk, const void* jni, const void* ucontext,
                          uint32_t depth, hprof_async_frame* frames, hprof_interrupted_stack* stack) {
  platform::MachineRegisters at = {};
  if (!platform::read_registers(ucontext, &at)) return 0;
  return reinterpret_cast<const SampleWalk*>(walk)->walk(jni, at, depth, frames, stack);
}

const hprof_walk_service kWalk = {
    sizeof(hprof_walk_service),
    0,
    sizeof(SeenCode),
    sizeof(StackChains) + alignof(StackChains),
    [](const hprof_host* host, void* jni, const char** why) {
      return reinterpret_cast<hprof_walk*>(open_walk<FrameWalk>(host, jni, Item::kFrameWalk, why));
    },
    [](hprof_walk* walk, const void* jni, const void* method) -> uint32_t {
      return walk_of(walk)->hide(jni, method);
    },
    [](hprof_walk* walk, const uint32_t* epoch) { walk_of(walk)->trust_code(epoch); },
    [](hprof_walk* walk, const void* jni, uint32_t depth, uint64_t what, hprof_walk_thread* thread) {
      return walk_of(walk)->key(jni, depth, what, thread);
    },
    [](hprof_walk* walk, const void* jni, const hprof_raw_frame* frames, uint32_t count,
       hprof_walk_thread* thread) -> uint32_t { return walk_of(walk)->learn(jni, frames, count, thread); },
    [](hprof_walk* walk, const void* jni, uint32_t depth, uint32_t learns, hprof_raw_frame* frames,
       hprof_walk_thread* thread) { return walk_of(walk)->frames(jni, depth, learns != 0, frames, thread); },
    [](hprof_walk* walk) { walk_of(walk)->distrust("a key stood for two stacks"); },
    [](const hprof_host* host, void* jni, const char** why) {
      return reinterpret_cast<hprof_sample_walk*>(open_walk<SampleWalk>(host, jni, Item::kSampleWalk, why));
    },
    &walk_interrupted,
    [](hprof_sample_walk* walk, const char* why) { reinterpret_cast<SampleWalk*>(walk)->distrust(why); },
    [](const hprof_host* host, hprof_sample_walk* walk) {
      const Memory& memory = hotspot_of(host).memory();
      reinterpret_cast<SampleWalk*>(walk)->close();
      memory.release(memory.context, walk, sizeof(SampleWalk));
    },
    [](const hprof_host*, hprof_sample_walk* walk, uint64_t outside, hprof_native_name* name) {
      reinterpret_cast<SampleWalk*>(walk)->name_outside(outside, name);
    },
    [](hprof_sample_walk* walk, void* jni) {
      reinterpret_cast<SampleWalk*>(walk)->tend(static_cast<JNIEnv*>(jni));
    },
};

ThreadContexts contexts;

uint32_t open_contexts(const hprof_host* host, void* jni, const char** why) {
  auto* env = static_cast<JNIEnv*>(jni);
  const auto* mem = find_service<hprof_mem_service>(host, HPROF_SERVICE_MEM);
  const uint64_t bytes = ThreadContexts::bytes_of(host->settings->max_memory);
  if (!contexts.is_open()) {
    jvmtiEnv* jvmti = jvmti_of(host);
    const LocalFrame frame(env, 16);
    jthread self = nullptr;
    if (!frame.is_open() || jvmti->GetCurrentThread(&self) != JVMTI_ERROR_NONE) return 0;
    if (mem->charge(host, bytes) == 0) return 0;
    if (!contexts.open(hotspot_of(host), env, self, thread_address(jvmti, env), bytes)) {
      mem->uncharge(host, bytes);
      return 0;
    }
  }
  *why = contexts.why_not_running();
  return 1;
}

void close_contexts(const hprof_host* host) {
  if (!contexts.is_open()) return;
  contexts.close();
  find_service<hprof_mem_service>(host, HPROF_SERVICE_MEM)
      ->uncharge(host, ThreadContexts::bytes_of(host->settings->max_memory));
}

const hprof_thread_context_service kThreadContext = {
    sizeof(hprof_thread_context_service),
    ThreadContexts::kFirstWithIds,
    &open_contexts,
    &close_contexts,
    [](const hprof_host*) { contexts.clear(); },
    [](const void* jni, uint64_t thread, const hprof_context* context) {
      return contexts.set(jni, thread, context);
    },
    [](const void* jni, const hprof_context* context) { return contexts.set_running(jni, context); },
    [](const void* jni) { contexts.end(jni); },
    [](const void* jni, hprof_context* context) { return contexts.running(jni, context) ? 1u : 0u; },
    [](void* jni, void* thread, hprof_context* context) -> uint32_t {
      auto* env = static_cast<JNIEnv*>(jni);
      const LocalFrame frame(env, 16);
      return frame.is_open() && contexts.of(env, static_cast<jobject>(thread), context) ? 1 : 0;
    },
    [](const hprof_host* host) { return contexts.find_variable(hotspot_of(host)) ? 1u : 0u; },
    [](const hprof_host* host, void* jni) -> uint32_t {
      auto* env = static_cast<JNIEnv*>(jni);
      jvmtiEnv* jvmti = jvmti_of(host);
      const LocalFrame frame(env, 16);
      jthread self = nullptr;
      if (!frame.is_open() || jvmti->GetCurrentThread(&self) != JVMTI_ERROR_NONE) return 0;
      return (contexts.is_open() ||
              contexts.find_mounted(hotspot_of(host), env, self, thread_address(jvmti, env))) &&
                     contexts.knows_mounted()
                 ? 1
                 : 0;
    },
    [](const void* jni) { return contexts.mounted(jni); },
    [](const void* jni) { return contexts.labels(jni); },
    [](uint32_t* count, uint32_t* bytes) -> uint64_t {
      const void* slots = contexts.slots(count);
      *bytes = sizeof(ContextSlot<uint64_t>);
      return sizeof(void*) == sizeof(uint64_t) ? reinterpret_cast<uintptr_t>(slots) : 0;
    },
};

}  // namespace

const void* objects_service() { return &kObjects; }
const void* thread_context_service() { return &kThreadContext; }
const void* vm_counts_service() { return &kVmCounts; }
const void* walk_service() { return &kWalk; }
const void* weaks_service() { return &kWeaks; }

}  // namespace hprof
