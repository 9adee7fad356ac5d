// The way of one object: from a probe, or an event of the VM's, to a count of its thread's. [app]
//
// The stack and the class together make a key. A key that was seen before leads straight to the count;
// otherwise the VM is asked for the stack and the class, and both are named.
#include <cstring>

#include <hprof/cpp/jni_exception.hpp>

#include "plugins/heap_sites/collector.h"

namespace hprof::sites {

// Mixed into a key for the two frames on top: a probe reports the object that the VM makes for them.
static constexpr uint64_t kToldByCaller = 0x6a09e667f3bcc909ull;

void Collector::lose(uint64_t* counter) const {
  if (counter != nullptr) __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

// A thread that the VM is still creating is not known yet. It counts as the thread that had its environment
// before, or that ended last: at the VM's end, the main thread becomes another one.
uint32_t Collector::ask_thread(JNIEnv* jni, AllocatingThread* state) {
  auto* jvmti = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
  jthread self = nullptr;
  if (jvmti->GetCurrentThread(&self) != JVMTI_ERROR_NONE || self == nullptr) return state->serial;
  uint32_t serial = services_.threads->serial_of(services_.host, self);
  bool changes = false;
  if (services_.settings().java_version >= 21) {
    jclass of = jni->GetObjectClass(self);
    char* name = nullptr;
    if (jvmti->GetClassSignature(of, &name, nullptr) == JVMTI_ERROR_NONE) {
      changes = strstr(name, "Virtual") != nullptr || strstr(name, "Carrier") != nullptr;
      jvmti->Deallocate(reinterpret_cast<unsigned char*>(name));
    }
    jni->DeleteLocalRef(of);
  }
  jni->DeleteLocalRef(self);
  state->asks = changes || serial == 0;
  if (serial != 0) state->serial = serial;
  return state->serial;
}

// 0 unless thread=y.
uint32_t Collector::thread_of(JNIEnv* jni, AllocatingThread* state) {
  if (services_.settings().thread_in_traces == 0) return 0;
  const uint32_t serial = state->asks ? ask_thread(jni, state) : state->serial;
  return serial != 0 ? serial : last_ended_.load(std::memory_order_relaxed);
}

// 0: ask the VM.
uint64_t Collector::walk_key(JNIEnv* jni, AllocatingThread* state, uint32_t depth) const {
  constexpr uint32_t kEnough = 4096, kMany = 1u << 16;
  hprof_frame_walk* walk = walk_.load(std::memory_order_relaxed);
  if (walk == nullptr) return 0;
  const hprof_hotspot_service& hotspot = *services_.hotspot;
  if (state->early_walks < kMany) {
    state->early_walks++;
    if (state->early_walks == kEnough)
      state->seen_code = services_.allocate<uint8_t>(hotspot.seen_code_bytes);
    if (state->early_walks == kMany) state->chains = services_.allocate<uint8_t>(hotspot.stack_chains_bytes);
  }
  return hotspot.walk_key(walk, jni, depth, state->seen_code, state->chains);
}

void Collector::allocated(void* self, void* jni, void* object, uint64_t header) {
  static_cast<Collector*>(self)->count_object(static_cast<JNIEnv*>(jni), static_cast<jobject>(object),
                                              header);
}

void Collector::count_object(JNIEnv* jni, jobject object, uint64_t header) {
  AllocatingThread* state = threads_.get(jni);
  if (state == nullptr) return lose(lost_objects_);
  if (state->inside) return;
  if (state->errand != Errand::kNone) return run_errand(jni, state->errand);
  if (state->bare != nullptr && was_bare(jni, state, object)) return;
  state->inside = true;
  const uint64_t class_key = hprof_class_key(&header_, header);
  const uint32_t depth = stacks_.depth();
  uint64_t key = class_key != 0 ? walk_key(jni, state, depth) : 0;
  const bool walked = key != 0;
  jvmtiFrameInfo frames[AllocationStacks::kMostFrames];
  uint32_t count = 0;
  if (!walked) {
    state->asked[kAskedUnknown]++;
    count = stacks_.of_current(frames);
  }
  if (class_key == 0) {
    count_as_named(jni, state, object, frames, count);
    state->inside = false;
    return;
  }
  const uint64_t thread = thread_of(jni, state);
  const auto with_rest = [&](uint64_t stack) { return mix(mix(mix(stack, class_key), thread), depth); };
  key = with_rest(walked ? key : AllocationStacks::hash(frames, count));
  Recent* recent = recall(jni, state, key);
  if (walked && (recent == nullptr || wants_proof(state))) {
    state->asked[recent == nullptr ? kAskedNew : kAskedProof]++;
    count = stacks_.of_current(frames);
    if (recent == nullptr && state->seen_code != nullptr) learn_stack(jni, state, frames, count);
    if (recent != nullptr && !is_proven(jni, state, object, recent, frames, count)) {
      recent = nullptr;
      key = mix(key, AllocationStacks::hash(frames, count));
    }
  }
  if (recent == nullptr)
    recent = miss(jni, state, object, class_key, with_rest(AllocationStacks::hash(frames, count)), key,
                  frames, count);
  if (recent != nullptr) {
    uint64_t size = recent->size != 0 ? recent->size : classes_.size_of(recent->owner, object, header);
    add(jni, state, recent->count, object, size);
  } else {
    lose(lost_objects_);
  }
  state->inside = false;
}

// The entry of that key, unless its class may have been unloaded.
Recent* Collector::recall(JNIEnv* jni, const AllocatingThread* state, uint64_t key) {
  Recent* recent = state->recent.find(key);
  const uint32_t epoch = collections_.load(std::memory_order_relaxed);
  if (recent == nullptr || recent->epoch == epoch) return recent;
  const bool same = recent->unloads == unloads_.load(std::memory_order_relaxed) &&
                    classes_.is_there(jni, recent->owner, epoch);
  if (same) recent->epoch = epoch;
  return same ? recent : nullptr;
}

void Collector::learn_stack(JNIEnv* jni, AllocatingThread* state, const jvmtiFrameInfo* frames,
                            uint32_t count) const {
  hprof_frame_walk* walk = walk_.load(std::memory_order_relaxed);
  if (walk == nullptr) return;
  services_.hotspot->walk_learn(walk, jni, reinterpret_cast<const hprof_raw_frame*>(frames), count,
                                state->seen_code);
}

// True for the first thousand known stacks, and then for one in some thousands, forever.
bool Collector::wants_proof(AllocatingThread* state) {
  constexpr uint32_t kProofEvery = 1u << 14;
  if (proofs_left_.load(std::memory_order_relaxed) > 0) {
    proofs_left_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  return ++state->walks % kProofEvery == 0;
}

// True: it agrees with the VM. If not, the VM is asked from now on.
bool Collector::is_proven(JNIEnv* jni, AllocatingThread* state, jobject object, const Recent* recent,
                          const jvmtiFrameInfo* frames, uint32_t count) {
  const Site& site = sites_[recent->count->site];
  bool right = stacks_.trace(jni, thread_of(jni, state), frames, count) == site.trace;
  jclass of = jni->GetObjectClass(object);
  right = right && jni->IsSameObject(of, classes_[recent->owner].reference);
  jni->DeleteLocalRef(of);
  if (!right) distrust_walks();
  return right;
}

void Collector::distrust_walks() {
  lose(wrong_walks_);
  walk_.store(nullptr, std::memory_order_relaxed);
  services_.hotspot->walk_distrust(opened_walk_);
}

// told_key: of the stack from the VM; the same as `key` if there was no walk. Recompiled code has other keys
// for the same stack.
Recent* Collector::miss(JNIEnv* jni, AllocatingThread* state, jobject object, uint64_t class_key,
                        uint64_t told_key, uint64_t key, const jvmtiFrameInfo* frames, uint32_t count) {
  if (const Recent* told = told_key != key ? recall(jni, state, told_key) : nullptr) {
    const Recent known = *told;
    return state->recent.put(key, known);
  }
  uint32_t epoch = collections_.load(std::memory_order_relaxed);
  uint32_t unloads = unloads_.load(std::memory_order_relaxed);
  uint32_t owner = classes_.find(jni, object, class_key, epoch);
  if (owner == 0) return nullptr;
  const AllocatedClass& entry = classes_[owner];
  uint32_t site = sites_.find(entry.serial, stacks_.trace(jni, thread_of(jni, state), frames, count));
  Count* at = site != 0 ? AllocatingThreads::count_of(state, site) : nullptr;
  if (at == nullptr) return nullptr;
  const Recent seen = {key, at, owner, entry.size, epoch, unloads};
  if (told_key != key) state->recent.put(told_key, seen);
  return state->recent.put(key, seen);
}

// Without a key the class is looked up each time ...
void Collector::count_by_class(JNIEnv* jni, AllocatingThread* state, jobject object, jclass of, uint64_t size,
                               const jvmtiFrameInfo* frames, uint32_t count) {
  uint32_t owner = services_.ids->class_serial(services_.host, jni, of);
  uint32_t trace = stacks_.trace(jni, thread_of(jni, state), frames, count);
  uint32_t site = owner != 0 ? sites_.find(owner, trace) : 0;
  Count* at = site != 0 ? AllocatingThreads::count_of(state, site) : nullptr;
  at != nullptr ? add(jni, state, at, object, size) : lose(lost_objects_);
}

// ... and so is the size.
void Collector::count_as_named(JNIEnv* jni, AllocatingThread* state, jobject object,
                               const jvmtiFrameInfo* frames, uint32_t count) {
  jclass of = jni->GetObjectClass(object);
  jlong size = 0;
  static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host))->GetObjectSize(object, &size);
  count_by_class(jni, state, object, of, static_cast<uint64_t>(size), frames, count);
  jni->DeleteLocalRef(of);
}

// Objects and bytes that one object of that size counts for.
Amount Collector::weight(uint64_t size) const {
  if (!mode_.sampled) return {1, size};
  uint64_t objects = objects_of_sample(size, mode_.interval);
  return {objects, objects * size};
}

void Collector::add(JNIEnv* jni, AllocatingThread* state, Count* count, jobject object, uint64_t size) {
  Amount by = weight(size);
  __atomic_store_n(&count->objects, count->objects + by.objects, __ATOMIC_RELAXED);
  __atomic_store_n(&count->bytes, count->bytes + by.bytes, __ATOMIC_RELAXED);
  if (config_.follow != 0) follow(jni, state, count->site, object, size);
}

void Collector::follow(JNIEnv* jni, AllocatingThread* state, uint32_t site, jobject object, uint64_t size) {
  jweak reference = jni->NewWeakGlobalRef(object);
  if (reference != nullptr && live_.add(&state->open, reference, site, size)) return;
  if (reference != nullptr) {
    jni->DeleteWeakGlobalRef(reference);
  } else {
    jni->ExceptionClear();
  }
  Amount by = weight(size);
  __atomic_fetch_add(&sites_[site].untracked.objects, by.objects, __ATOMIC_RELAXED);
  __atomic_fetch_add(&sites_[site].untracked.bytes, by.bytes, __ATOMIC_RELAXED);
  lose(lost_ends_);
}

// Objects that the VM makes for a native method. Compiled code makes those of clone() and Array.newInstance
// without an event, so probes in their callers report them.
void Collector::vm_object_alloc(JNIEnv* jni, hprof_thread*, jobject object, jclass of, int64_t size) {
  if (mode_.sampled || !counts_.load(std::memory_order_relaxed)) return;
  AllocatingThread* state = threads_.get(jni);
  if (state == nullptr) return lose(lost_objects_);
  if (state->inside) return;
  state->inside = true;
  // The native method and its caller decide whether a probe reports the object. Millions of objects may come
  // this way (seen on 25 in javac, most of them reported by a probe; few on 17).
  uint64_t key = walk_key(jni, state, 2);
  if (key != 0) key = mix(key, kToldByCaller);
  Recent* told = key != 0 ? state->recent.find(key) : nullptr;
  const uint32_t unloads = unloads_.load(std::memory_order_relaxed);
  if (told == nullptr || told->unloads != unloads || wants_proof(state)) {
    state->asked[kAskedVmObject]++;
    if (stacks_.is_told_by_caller()) {
      if (told == nullptr && key != 0) told = state->recent.add(key);
      if (told != nullptr) told->unloads = unloads;
    } else {
      if (told != nullptr && told->unloads == unloads) distrust_walks();
      if (told != nullptr) told->key = 0;
      vm_objects_.fetch_add(1, std::memory_order_relaxed);
      jvmtiFrameInfo frames[AllocationStacks::kMostFrames];
      uint32_t count = stacks_.of_current(frames);
      count_by_class(jni, state, object, of, static_cast<uint64_t>(size), frames, count);
    }
  }
  state->inside = false;
}

// Objects that native code makes. A string counts with its text.
void Collector::native_object(void* self, void* env, void* made, uint32_t bare) {
  auto* jni = static_cast<JNIEnv*>(env);
  auto* object = static_cast<jobject>(made);
  auto* collector = static_cast<Collector*>(self);
  if (!collector->counts_.load(std::memory_order_relaxed)) return;
  AllocatingThread* state = collector->threads_.get(jni);
  if (state == nullptr) return collector->lose(collector->lost_objects_);
  if (state->inside) return;
  state->inside = true;
  if (bare != 0) collector->set_bare(jni, state, object);
  collector->count_native(jni, state, object);
  if (collector->string_value_ != nullptr && jni->IsInstanceOf(object, collector->string_class_)) {
    jobject text = jni->GetObjectField(object, collector->string_value_);
    if (text != nullptr) collector->count_native(jni, state, text);
    jni->DeleteLocalRef(text);
  }
  state->inside = false;
}

// If native code runs a constructor on an object of AllocObject, soon and on the same thread, it is not
// counted again.
void Collector::set_bare(JNIEnv* jni, AllocatingThread* state, jobject object) const {
  constexpr uint32_t kSoon = 100;  // objects
  if (state->bare != nullptr) jni->DeleteWeakGlobalRef(static_cast<jweak>(state->bare));
  state->bare = object != nullptr ? jni->NewWeakGlobalRef(object) : nullptr;
  state->bare_left = kSoon;
  clear_exception(jni);
}

bool Collector::was_bare(JNIEnv* jni, AllocatingThread* state, jobject object) const {
  const bool same = jni->IsSameObject(static_cast<jweak>(state->bare), object) != JNI_FALSE;
  if (same || --state->bare_left == 0) set_bare(jni, state, nullptr);
  return same;
}

void Collector::count_native(JNIEnv* jni, AllocatingThread* state, jobject object) {
  vm_objects_.fetch_add(1, std::memory_order_relaxed);
  jvmtiFrameInfo frames[AllocationStacks::kMostFrames];
  count_as_named(jni, state, object, frames, stacks_.of_current(frames));
}

void Collector::sampled_object_alloc(JNIEnv* jni, hprof_thread*, jobject object, jclass of, int64_t size) {
  AllocatingThread* state = mode_.sampled ? threads_.get(jni) : nullptr;
  if (state == nullptr || state->inside) return;
  state->inside = true;
  jvmtiFrameInfo frames[AllocationStacks::kMostFrames];
  uint32_t count = stacks_.of_current(frames);
  count_by_class(jni, state, object, of, static_cast<uint64_t>(size), frames, count);
  state->inside = false;
}

void Collector::thread_end(void* jni, hprof_thread* thread) {
  if (services_.settings().thread_in_traces == 0) return;
  last_ended_.store(thread->serial, std::memory_order_relaxed);
  if (AllocatingThread* state = threads_.get(jni)) state->asks = true;
}

}  // namespace hprof::sites
