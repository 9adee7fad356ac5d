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
static constexpr uint64_t kMadeByVm = 0x3c6ef372fe94f82bull;  // of those of which no probe tells
static constexpr uint64_t kNamed = 0xbb67ae8584caa73bull;  // begins the key of a stack by its frames' numbers
static constexpr uint32_t kMany = 1u << 14;  // objects, after which a thread gets all memory of the walk
static constexpr uint32_t kLongStack = 48;   // frames, to learn from

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

// After enough allocations, so that threads that make few objects take little memory.
void Collector::give_memory(AllocatingThread* state) const {
  constexpr uint32_t kEnough = 4096;
  const hprof_hotspot_service& hotspot = *services_.hotspot;
  state->early_walks++;
  if (state->early_walks == kEnough) state->walk.seen = services_.allocate<uint8_t>(hotspot.seen_code_bytes);
  if (state->early_walks == kMany) {
    state->walk.chains = services_.allocate<uint8_t>(hotspot.stack_chains_bytes);
    state->names.open(services_);
  }
}

// 0: ask the VM. state->walk.note is set with it.
inline uint64_t Collector::walk_key(JNIEnv* jni, AllocatingThread* state, uint32_t depth,
                                    uint64_t what) const {
  hprof_frame_walk* walk = walk_.load(std::memory_order_acquire);
  state->walk.note = nullptr;
  if (walk == nullptr) return 0;
  if (state->early_walks < kMany) give_memory(state);
  return services_.hotspot->walk_key(walk, jni, depth, what, &state->walk);
}

void Collector::allocated(void* self, void* jni, void* object, uint64_t header) {
  static_cast<Collector*>(self)->count_object(static_cast<JNIEnv*>(jni), static_cast<jobject>(object),
                                              header);
}

// Most objects are made at a stack whose note leads to their count.
inline void Collector::count_object(JNIEnv* jni, jobject object, uint64_t header) {
  static_assert(sizeof(Known) <= HPROF_STACK_NOTE_BYTES, "a note has room for it");
  AllocatingThread* state = threads_.get(jni);
  if (state == nullptr) return lose(lost_objects_);
  if (state->inside) return;
  if (state->errand != Errand::kNone) {
    // What it allocates itself, such as the exception for a class that is not there, is not another errand.
    state->inside = true;
    run_errand(jni, state->errand);
    state->inside = false;
    return;
  }
  if (state->bare != nullptr && was_bare(jni, state, object)) return;
  state->inside = true;
  Walked walked = {hprof_class_key(&header_, header), 0, stacks_.depth(), 0, nullptr};
  if (walked.class_key != 0) {
    walked.thread = thread_of(jni, state);
    const uint64_t what = walked.thread == 0 ? walked.class_key : mix(walked.class_key, walked.thread);
    walked.stack = walk_key(jni, state, walked.depth, what);
    walked.note = static_cast<Known*>(state->walk.note);
  }
  const Known* known = walked.note;
  if (known != nullptr && state->until_proof > 1 && is_current(*known)) {
    state->until_proof--;
    const uint64_t size = classes_.size_of(known->size, known->owner, object, header);
    known->count->add({1, size});
    if (config_.follow != 0) follow(jni, state, known->count, object, size);
  } else {
    count_slowly(jni, state, object, header, walked);
  }
  state->inside = false;
}

void Collector::count_slowly(JNIEnv* jni, AllocatingThread* state, jobject object, uint64_t header,
                             const Walked& walked) {
  jvmtiFrameInfo frames[AllocationStacks::kMostFrames];
  hprof_frame_id ids[AllocationStacks::kMostFrames];
  uint32_t count = 0;
  const bool is_known = walked.stack != 0;
  if (!is_known) {
    state->asked[kAskedUnknown]++;
    count = stacks_.of_current(frames);
  }
  if (walked.class_key == 0) return count_as_named(jni, state, object, frames, count);
  const auto with_rest = [&](uint64_t stack) {
    return mix(mix(mix(stack, walked.class_key), walked.thread), walked.depth);
  };
  uint64_t key = with_rest(is_known ? walked.stack : AllocationStacks::hash(frames, count));
  Known* note = walked.note;
  Known* known = note != nullptr && is_current(*note) ? note : recall(state, key);
  if (is_known && known == nullptr) {
    count = name_stack(jni, state, walked.depth, ids);
    note = static_cast<Known*>(state->walk.note);
  } else if (is_known && wants_proof(state)) {
    state->asked[kAskedProof]++;
    count = stacks_.of_current(frames);
    if (!is_proven(jni, state, object, *known, frames, count)) {
      known = nullptr;
      note = nullptr;
      key = mix(key, AllocationStacks::hash(frames, count));
      stacks_.name(jni, frames, count, ids);
    }
  } else if (known == nullptr) {
    stacks_.name(jni, frames, count, ids);
  }
  Known found;
  if (known != nullptr) {
    found = *known;
  } else {
    const uint64_t told_key = with_rest(mix(kNamed, ids, count));
    if (!find_out(jni, state, object, walked.class_key, told_key, ids, count, &found))
      return lose(lost_objects_);
    // Recompiled code has other keys for the same stack.
    state->recent.put(told_key, found);
    if (told_key != key) state->recent.put(key, found);
  }
  if (note != nullptr) *note = found;
  add(jni, state, found.count, object, classes_.size_of(found.size, found.owner, object, header));
}

// What is known by that key, unless its class may have been unloaded.
Known* Collector::recall(const AllocatingThread* state, uint64_t key) const {
  Recent* recent = state->recent.find(key);
  return recent != nullptr && is_current(recent->known) ? &recent->known : nullptr;
}

// A new position in a method that the thread has met.
hprof_frame_id Collector::name_by_method(JNIEnv* jni, AllocatingThread* state,
                                         const hprof_raw_frame& walked) const {
  const hprof_raw_frame frame = {state->names.id_of(walked.method), walked.location};
  if (frame.method == nullptr) return 0;
  const hprof_frame_id id = services_.ids->frame(services_.host, jni, &frame, 1);
  state->names.put(walked, id);
  return id;
}

// The frames of a stack whose key is new. Where the thread has met all of their methods, in whatever stack,
// the VM is not asked; but for some, to be compared.
uint32_t Collector::name_stack(JNIEnv* jni, AllocatingThread* state, uint32_t depth, hprof_frame_id* ids) {
  constexpr uint32_t kSureAfter = 100, kAllProven = 64, kProofEvery = 1u << 10;
  hprof_raw_frame walked[AllocationStacks::kMostFrames];
  hprof_frame_walk* walk = walk_.load(std::memory_order_relaxed);
  const uint32_t sure = agreed_.load(std::memory_order_relaxed) >= kSureAfter ? 1 : 0;
  uint32_t count = 0;
  if (walk != nullptr && HPROF_HAS(services_.hotspot, hprof_hotspot_service, walk_frames))
    count = services_.hotspot->walk_frames(walk, jni, depth, sure, walked, &state->walk);
  state->names.set_epoch(epoch());
  bool is_composed = count != 0;
  for (uint32_t i = 0; i < count; i++) {
    ids[i] = state->names.find(walked[i]);
    if (ids[i] == 0) ids[i] = name_by_method(jni, state, walked[i]);
    is_composed = is_composed && ids[i] != 0;
  }
  const auto wants_proof = [&] {
    const uint32_t number = state->composed++;
    return number < kAllProven || number % kProofEvery == 0;
  };
  if (is_composed && !wants_proof()) return count;
  state->asked[is_composed ? kAskedProof : kAskedNew]++;
  jvmtiFrameInfo told[AllocationStacks::kMostFrames];
  hprof_frame_id told_ids[AllocationStacks::kMostFrames];
  const uint32_t told_count = stacks_.of_current(told);
  if (state->walk.seen != nullptr) learn_stack(jni, state, told, told_count);
  for (uint32_t i = 0; i < told_count; i++) {
    const hprof_raw_frame frame = {told[i].method, told[i].location};
    told_ids[i] = is_composed ? 0 : state->names.find(frame);
    if (told_ids[i] != 0) continue;
    stacks_.name(jni, told + i, 1, told_ids + i);
    state->names.put(frame, told_ids[i]);
  }
  bool agrees = count == told_count && count != 0;
  for (uint32_t i = 0; agrees && i < count; i++) {
    agrees = walked[i].location == told[i].location && (ids[i] == 0 || ids[i] == told_ids[i]);
  }
  if (agrees) agreed_.fetch_add(1, std::memory_order_relaxed);
  if (is_composed && !agrees) distrust_walks();
  for (uint32_t i = 0; i < told_count; i++) {
    if (agrees) state->names.put(walked[i], told_ids[i]);
    // In a native method the VM's frame may have a position, of which the VM tells nothing.
    if (agrees && told[i].location >= 0) state->names.put_id(walked[i].method, told[i].method);
    ids[i] = told_ids[i];
  }
  return told_count;
}

void Collector::learn_stack(JNIEnv* jni, AllocatingThread* state, const jvmtiFrameInfo* frames,
                            uint32_t count) const {
  hprof_frame_walk* walk = walk_.load(std::memory_order_acquire);
  if (walk == nullptr) return;
  const auto learn = [&](const jvmtiFrameInfo* told, uint32_t number) {
    return services_.hotspot->walk_learn(walk, jni, reinterpret_cast<const hprof_raw_frame*>(told), number,
                                         &state->walk);
  };
  if (learn(frames, count) == 0 || count < stacks_.depth()) return;
  // The trace ends among the methods that were inlined into one. A longer one tells which.
  jvmtiFrameInfo more[kLongStack];
  if (count < kLongStack) learn(more, stacks_.of_current(more, kLongStack));
}

// True for the first thousand known stacks, and then for one in some thousands, forever.
bool Collector::wants_proof(AllocatingThread* state) {
  constexpr uint32_t kProofEvery = 1u << 14;
  if (proofs_left_.load(std::memory_order_relaxed) > 0) {
    proofs_left_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  if (state->until_proof > 1) {
    state->until_proof--;
    return false;
  }
  state->until_proof = kProofEvery;
  return true;
}

// True: it agrees with the VM. If not, the VM is asked from now on.
bool Collector::is_proven(JNIEnv* jni, AllocatingThread* state, jobject object, const Known& known,
                          const jvmtiFrameInfo* frames, uint32_t count) {
  const Site& site = sites_[known.count->site];
  bool right = stacks_.trace(jni, thread_of(jni, state), frames, count) == site.trace;
  jclass of = jni->GetObjectClass(object);
  right = right && jni->IsSameObject(of, classes_[known.owner].reference);
  jni->DeleteLocalRef(of);
  if (!right) distrust_walks();
  return right;
}

void Collector::distrust_walks() {
  lose(wrong_walks_);
  walk_.store(nullptr, std::memory_order_relaxed);
  services_.hotspot->walk_distrust(opened_walk_);
}

// Where the thread counts objects of that class and trace; null: no memory, or one of them has no number.
Count* Collector::count_of(AllocatingThread* state, uint32_t class_serial, uint32_t trace) {
  const uint32_t site = class_serial != 0 ? sites_.find(class_serial, trace) : 0;
  return site != 0 ? AllocatingThreads::count_of(state, site) : nullptr;
}

// Of a stack with these frames; told_key: of it. False: no memory.
bool Collector::find_out(JNIEnv* jni, AllocatingThread* state, jobject object, uint64_t class_key,
                         uint64_t told_key, const hprof_frame_id* ids, uint32_t count, Known* found) {
  if (const Known* told = recall(state, told_key)) {
    *found = *told;
    return true;
  }
  const uint32_t epoch = this->epoch();
  const uint32_t owner = classes_.find(jni, object, class_key, epoch);
  if (owner == 0) return false;
  Count* at = count_of(state, classes_[owner].serial, stacks_.trace(thread_of(jni, state), ids, count));
  *found = {at, owner, classes_.quick_size(owner), epoch};
  return at != nullptr;
}

// Without a key the class is looked up each time ...
void Collector::count_by_class(JNIEnv* jni, AllocatingThread* state, jobject object, jclass of, uint64_t size,
                               const jvmtiFrameInfo* frames, uint32_t count) {
  uint32_t owner = services_.ids->class_serial(services_.host, jni, of);
  Count* at = count_of(state, owner, stacks_.trace(jni, thread_of(jni, state), frames, count));
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
  count->add(weight(size));
  if (config_.follow != 0) follow(jni, state, count, object, size);
}

void Collector::follow(JNIEnv* jni, AllocatingThread* state, Count* count, jobject object, uint64_t size) {
  LiveRecord* record = live_.next(&state->open);
  if (record != nullptr && refer(jni, state, record, object))
    return live_.add(&state->open, count->site, size);
  const Amount by = weight(size);
  Amount& untracked = sites_[count->site].untracked;
  __atomic_fetch_add(&untracked.objects, by.objects, __ATOMIC_RELAXED);
  __atomic_fetch_add(&untracked.bytes, by.bytes, __ATOMIC_RELAXED);
  lose(lost_ends_);
}

// The reference of an object that has ended, or a new one.
inline bool Collector::refer(JNIEnv* jni, AllocatingThread* state, LiveRecord* record, jobject object) const {
  void* reference = record->reference();
  // Where it leads to is far away.
  if (const void* later = reuses_ ? LiveRecords::later_reference(state->open) : nullptr)
    __builtin_prefetch(later, 1);
  if (reuses_ && reference != nullptr &&
      services_.hotspot->weak_reuse(jni, reference, object, &state->weak) != 0)
    return true;
  if (reference != nullptr) jni->DeleteWeakGlobalRef(static_cast<jweak>(reference));
  reference = jni->NewWeakGlobalRef(object);
  if (reference == nullptr) jni->ExceptionClear();
  if (!LiveRecord::fits(reference)) {
    jni->DeleteWeakGlobalRef(static_cast<jweak>(reference));
    reference = nullptr;
  }
  record->set_reference(reference);
  return reference != nullptr;
}

// Objects that the VM makes for a native method. Compiled code makes those of clone() and Array.newInstance
// without an event, so probes in their callers report them.
void Collector::vm_object_alloc(JNIEnv* jni, hprof_thread*, jobject object, jclass of, int64_t size) {
  if (mode_.sampled || !counts_.load(std::memory_order_relaxed)) return;
  AllocatingThread* state = threads_.get(jni);
  if (state == nullptr) return lose(lost_objects_);
  if (state->inside) return;
  state->inside = true;
  if (!is_told_by_caller(jni, state)) count_vm_object(jni, state, object, of, static_cast<uint64_t>(size));
  state->inside = false;
}

// The native method and its caller decide whether a probe reports the object. Millions of objects may come
// this way (seen on 25 in javac, most of them reported by a probe; few on 17).
bool Collector::is_told_by_caller(JNIEnv* jni, AllocatingThread* state) {
  constexpr uint32_t kTold = 1, kNotTold = 2;  // in place of a class
  uint64_t key = walk_key(jni, state, 2, 0);
  if (key != 0) key = mix(key, kToldByCaller);
  const Recent* found = key != 0 ? state->recent.find(key) : nullptr;
  const uint32_t epoch = this->epoch();
  const bool is_known = found != nullptr && found->known.epoch == epoch;
  const bool was_told = is_known && found->known.owner == kTold;
  if (is_known && !wants_proof(state)) return was_told;
  state->asked[kAskedVmObject]++;
  const bool is_told = stacks_.is_told_by_caller();
  if (is_known && is_told != was_told) distrust_walks();
  if (key != 0) state->recent.put(key, {nullptr, is_told ? kTold : kNotTold, 0, epoch});
  return is_told;
}

// What is known of its stack and class is that of others that the VM has made.
void Collector::count_vm_object(JNIEnv* jni, AllocatingThread* state, jobject object, jclass of,
                                uint64_t size) {
  vm_objects_.fetch_add(1, std::memory_order_relaxed);
  const uint32_t owner = services_.ids->class_serial(services_.host, jni, of);
  const uint32_t thread = thread_of(jni, state), epoch = this->epoch();
  const uint64_t what = mix(mix(kMadeByVm, owner), thread);
  uint64_t key = owner != 0 ? walk_key(jni, state, stacks_.depth(), what) : 0;
  if (key != 0) key = mix(mix(key, what), stacks_.depth());
  const Known* known = key != 0 ? recall(state, key) : nullptr;
  Count* at = known != nullptr ? known->count : nullptr;
  if (at == nullptr || wants_proof(state)) {
    state->asked[at == nullptr ? kAskedNew : kAskedProof]++;
    jvmtiFrameInfo frames[AllocationStacks::kMostFrames];
    const uint32_t count = stacks_.of_current(frames);
    const uint32_t trace = stacks_.trace(jni, thread, frames, count);
    if (at != nullptr && sites_[at->site].trace != trace) distrust_walks();
    at = count_of(state, owner, trace);
    if (at == nullptr) return lose(lost_objects_);
    if (key != 0) state->recent.put(key, {at, 0, 0, epoch});
  }
  add(jni, state, at, object, size);
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
