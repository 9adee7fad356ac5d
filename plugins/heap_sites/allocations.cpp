// Counts one object, reported by a probe or an event of the VM, for its thread. [app]
//
// The stack and the class together make a key. A known key leads straight to the count; otherwise the VM is
// asked for the stack and the class, and both get their numbers.
#include <cstring>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/events.hpp>
#include <hprof/cpp/jni_exception.hpp>

#include "collector.h"

namespace hprof::sites {

static constexpr uint64_t kMadeByVm = 0x3c6ef372fe94f82bull;  // seed of the keys of objects without a probe
static constexpr uint64_t kNamed = 0xbb67ae8584caa73bull;     // seed of the keys of stacks by frame ids

constexpr uint32_t kSiteEventBytes = 4;
static constexpr hprof_column kEventColumns[] = {
    tables::kAt,
    tables::kThread,
    tables::kAllocSitesColumns[0],
    tables::kTrace,
    tables::kAllocSitesColumns[HPROF_SITE_ALLOCATED_BYTES],
    tables::kAllocSitesColumns[HPROF_SITE_ALLOCATED_BYTES + 1],
};
// [1]: where a unit sets contexts.
static constexpr auto kEventColumnsOf = tables::with_context(kEventColumns);
static constexpr hprof_table_schema kSiteEvents[] = {
    tables::schema<hprof_site_event>(HPROF_TABLE_ALLOC_SITE_EVENTS, "SITE EVENTS", kEventColumns),
    tables::schema<tables::WithContext<hprof_site_event>>(HPROF_TABLE_ALLOC_SITE_EVENTS, "SITE EVENTS",
                                                          kEventColumnsOf.at)};

// Returns the thread's serial. The core does not know a thread that the VM is still creating: it counts as
// the thread that ended last, since at the VM's end the main thread becomes another one.
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

// Returns the thread's serial.
uint32_t Collector::thread_of(JNIEnv* jni, AllocatingThread* state) {
  const uint32_t serial = state->asks ? ask_thread(jni, state) : state->serial;
  return serial != 0 ? serial : last_ended_.load(std::memory_order_relaxed);
}

Collector* Collector::instance_ = nullptr;

void JNICALL Collector::allocated(JNIEnv* jni, jclass, jobject object, jlong header) {
  if (object != nullptr) instance_->count_object(jni, object, static_cast<uint64_t>(header));
}

// The fast path: the stack's data lead to the count.
inline void Collector::count_object(JNIEnv* jni, jobject object, uint64_t header) {
  AllocatingThread* state = threads_.get(jni);
  if (state == nullptr) return count_loss(lost_objects_);
  if (!counts(*state)) return;
  if (state->bare != nullptr && was_bare(jni, state, object)) return;
  state->inside = true;
  Walked walked = {hprof_class_key(&header_, header), {}, stacks_.vm().depth(), 0, nullptr};
  if (walked.class_key != 0) {
    walked.whom = made_for(jni, state);
    const uint64_t whom = walked.whom.word();
    const uint64_t what = whom == 0 ? walked.class_key : mix(walked.class_key, whom);
    walked.stack = stacks_.key(jni, &state->stacks, walked.depth, what);
    walked.kept = static_cast<Known*>(state->stacks.walk.data);
  }
  Known* known = walked.kept;
  if (known != nullptr && stacks_.is_current(*known) && Proofs::skips(&state->stacks.until_proof)) {
    const uint64_t size = size_of(state, &known->size, walked.class_key, object, header);
    state->log.note(services_, known->count);
    known->count->add({1, size});
    if (config_.follow != 0) followed_.follow(jni, &state->followed, known->count->site, object, size);
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
  if (stacks_.vm().run_hidden_call(jni)) return;
  const bool is_known = walked.stack != 0;
  if (!is_known) {
    state->stacks.asked[kAskedUnknown]++;
    count = stacks_.vm().of_current(frames);
  }
  if (walked.class_key == 0) return count_as_named(jni, state, object, frames, count);
  const auto with_rest = [&](uint64_t stack) {
    return mix(mix(mix(stack, walked.class_key), walked.whom.word()), walked.depth);
  };
  uint64_t key = with_rest(is_known ? walked.stack : AllocationStacks::hash(frames, count));
  Known* kept = walked.kept;
  const Known* known =
      kept != nullptr && stacks_.is_current(*kept) ? kept : stacks_.recall(state->stacks, key);
  if (is_known && known == nullptr) {
    count = stacks_.name(jni, &state->stacks, walked.depth, ids);
    kept = static_cast<Known*>(state->stacks.walk.data);
  } else if (is_known && stacks_.wants_proof(&state->stacks)) {
    state->stacks.asked[kAskedProof]++;
    count = stacks_.vm().of_current(frames);
    if (!is_proven(jni, state, object, *known, frames, count)) {
      known = nullptr;
      kept = nullptr;
      key = mix(key, AllocationStacks::hash(frames, count));
      stacks_.vm().name(jni, frames, count, ids);
    }
  } else if (known == nullptr) {
    stacks_.vm().name(jni, frames, count, ids);
  }
  Known found;
  if (known != nullptr) {
    found = *known;
  } else {
    const uint64_t named_key = with_rest(mix(kNamed, ids, count));
    if (!find_out(jni, state, object, walked.class_key, named_key, ids, count, &found)) return;
    // Recompiled code gives other keys to the same stack, so the result is also kept by frame ids.
    stacks_.keep(&state->stacks, named_key, found);
    if (named_key != key) stacks_.keep(&state->stacks, key, found);
  }
  if (kept != nullptr) *kept = found;
  add(jni, state, found.count, object, size_of(state, &found.size, walked.class_key, object, header));
}

// True: what is known agrees with the VM. Else the VM is asked for each stack from now on.
bool Collector::is_proven(JNIEnv* jni, AllocatingThread* state, jobject object, const Known& known,
                          const jvmtiFrameInfo* frames, uint32_t count) {
  const Site& site = sites_[known.count->site];
  bool right = is_without_stack(*known.count) ||
               stacks_.vm().trace(jni, made_for(jni, state), frames, count) == site.trace;
  jclass of = jni->GetObjectClass(object);
  right = right && services_.ids->class_serial(services_.host, jni, of) == site.owner;
  jni->DeleteLocalRef(of);
  if (!right) stacks_.distrust();
  return right;
}

// The thread's count of objects of that class and the trace of make_trace(), or of no stack, if there is no
// room for that. Null: the object is lost.
template <class MakeTrace>
Count* Collector::count_of(AllocatingThread* state, uint32_t class_serial, const MakeTrace& make_trace) {
  const uint32_t trace = class_serial != 0 && sites_.last() < most_sites_ ? make_trace() : 0;
  uint32_t site = trace != 0 ? sites_.find(class_serial, trace) : 0;
  if (site == 0 && class_serial != 0) {
    count_loss(lost_stacks_);
    site = sites_.find(class_serial, lost_trace_);
  }
  Count* count = site != 0 ? AllocatingThreads::count_of(state, site) : nullptr;
  if (count == nullptr) lose(state);
  return count;
}

// Fills in *found for a new stack. ids: its frames; named_key: the key made of them. False: the object is
// lost.
bool Collector::find_out(JNIEnv* jni, AllocatingThread* state, jobject object, uint64_t class_key,
                         uint64_t named_key, const hprof_frame_id* ids, uint32_t count, Known* found) {
  if (const Known* known = stacks_.recall(state->stacks, named_key)) {
    *found = *known;
    return true;
  }
  const uint32_t epoch = stacks_.forget_stale(&state->stacks);
  const ObjectClass of = class_of(jni, state, object, class_key);
  Count* at =
      count_of(state, of.serial, [&] { return stacks_.vm().trace(made_for(jni, state), ids, count); });
  *found = {at, of.size, epoch};
  return at != nullptr;
}

// Without a class key the class is looked up each time. Null: it is not counted.
Count* Collector::count_by_class(JNIEnv* jni, AllocatingThread* state, jobject object, jclass of,
                                 uint64_t size, const jvmtiFrameInfo* frames, uint32_t count) {
  uint32_t owner = services_.ids->class_serial(services_.host, jni, of);
  Count* at =
      count_of(state, owner, [&] { return stacks_.vm().trace(jni, made_for(jni, state), frames, count); });
  if (at != nullptr) add(jni, state, at, object, size);
  return at;
}

// Without a class key class and size are looked up each time.
void Collector::count_as_named(JNIEnv* jni, AllocatingThread* state, jobject object,
                               const jvmtiFrameInfo* frames, uint32_t count) {
  jclass of = jni->GetObjectClass(object);
  count_by_class(jni, state, object, of, measure(object), frames, count);
  jni->DeleteLocalRef(of);
}

void Collector::add(JNIEnv* jni, AllocatingThread* state, Count* count, jobject object, uint64_t size) {
  state->log.note(services_, count);
  count->add(mode_.weight(size));
  if (config_.follow != 0) followed_.follow(jni, &state->followed, count->site, object, size);
}

// Objects that the VM makes for a native method. Compiled code makes those of clone() and Array.newInstance
// without an event, so probes in their callers report them.
void Collector::vm_object_alloc(JNIEnv* jni, hprof_thread*, jobject object, jclass of, int64_t size) {
  if (mode_.sampled || !counts_.load(std::memory_order_relaxed)) return;
  AllocatingThread* state = threads_.get(jni);
  if (state == nullptr) return count_loss(lost_objects_);
  if (!counts(*state)) return;
  state->inside = true;
  if (!stacks_.is_reported_by_caller(jni, &state->stacks))
    count_vm_object(jni, state, object, of, static_cast<uint64_t>(size));
  state->inside = false;
}

// Counts an object of the VM, whose key is kept apart from those of probes.
void Collector::count_vm_object(JNIEnv* jni, AllocatingThread* state, jobject object, jclass of,
                                uint64_t size) {
  vm_objects_.fetch_add(1, std::memory_order_relaxed);
  const uint32_t owner = services_.ids->class_serial(services_.host, jni, of);
  const MadeFor whom = made_for(jni, state);
  const uint32_t epoch = stacks_.epoch();
  const uint64_t what = mix(mix(kMadeByVm, owner), whom.word());
  uint64_t key = owner != 0 ? stacks_.key(jni, &state->stacks, stacks_.vm().depth(), what) : 0;
  if (key != 0) key = mix(mix(key, what), stacks_.vm().depth());
  const Known* known = key != 0 ? stacks_.recall(state->stacks, key) : nullptr;
  Count* at = known != nullptr ? known->count : nullptr;
  if (at == nullptr || stacks_.wants_proof(&state->stacks)) {
    state->stacks.asked[at == nullptr ? kAskedNew : kAskedProof]++;
    jvmtiFrameInfo frames[AllocationStacks::kMostFrames];
    const uint32_t count = stacks_.vm().of_current(frames);
    const Count* proven = at;
    at = count_of(state, owner, [&] { return stacks_.vm().trace(jni, whom, frames, count); });
    if (at == nullptr) return;
    if (proven != nullptr && proven != at && !is_without_stack(*proven) && !is_without_stack(*at))
      stacks_.distrust();
    if (key != 0) stacks_.keep(&state->stacks, key, {at, 0, epoch});
  }
  add(jni, state, at, object, size);
}

// Counts an object that native code has made through JNI. A string's text counts with it.
void Collector::native_object(void* self, void* env, void* made, uint32_t bare) {
  auto* jni = static_cast<JNIEnv*>(env);
  auto* object = static_cast<jobject>(made);
  auto* collector = static_cast<Collector*>(self);
  if (!collector->counts_.load(std::memory_order_relaxed)) return;
  AllocatingThread* state = collector->threads_.get(jni);
  if (state == nullptr) return count_loss(collector->lost_objects_);
  if (!collector->counts(*state)) return;
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

// Remembers an object of AllocObject, so that it is not counted again if native code soon runs its
// constructor on the same thread.
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
  count_as_named(jni, state, object, frames, stacks_.vm().of_current(frames));
}

// Passes a sample on as an event.
void Collector::pass_on(const JNIEnv* jni, const Site& site, hprof_thread_serial thread,
                        uint64_t size) const {
  const Amount made = whole(mode_.weight(size), kFractionBits);
  const hprof_site_event event = {
      services_.clock->monotonic(services_.host), thread, site.owner, site.trace, made.bytes, made.objects};
  const auto row = tables::with_context(event, contexts_.current(thread, jni));
  hprof_rec_table table = event_of(kSiteEvents[contexts_.are_on()], row);
  table.period_column = kSiteEventBytes;
  table.period = mode_.interval;
  services_.emit->event(services_.host, &table.head);
}

void Collector::sampled_object_alloc(JNIEnv* jni, hprof_thread* thread, jobject object, jclass of,
                                     int64_t size) {
  AllocatingThread* state = mode_.sampled ? threads_.get(jni) : nullptr;
  if (state == nullptr || state->inside) return;
  state->inside = true;
  jvmtiFrameInfo frames[AllocationStacks::kMostFrames];
  uint32_t count = stacks_.vm().of_current(frames);
  const auto bytes = static_cast<uint64_t>(size);
  const Count* at = count_by_class(jni, state, object, of, bytes, frames, count);
  if (at != nullptr && takes_events(services_.host)) pass_on(jni, sites_[at->site], thread->serial, bytes);
  state->inside = false;
}

void Collector::thread_end(void* env, hprof_thread* thread) {
  if (services_.settings().thread_in_traces != 0)
    last_ended_.store(thread->serial, std::memory_order_relaxed);
  if ((thread->flags & HPROF_THREAD_VIRTUAL) != 0) return;
  threads_.end(env, [&](AllocatingThread& state) {
    if (state.bare != nullptr) set_bare(static_cast<JNIEnv*>(env), &state, nullptr);
    state.log.end_all();
    state.asks = true;
    state.serial = 0;
  });
}

}  // namespace hprof::sites
