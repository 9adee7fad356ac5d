#include "wall_engine.h"

#include <cstring>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>
#include <hprof/cpp/note.hpp>

namespace hprof::samples {

static_assert(sizeof(jvmtiFrameInfo) == sizeof(hprof_raw_frame), "stacks are passed on as they are");

// After a turn of length t the engine sleeps at least kRestFactor * t: it takes 1.6 % of a processor, plus
// what threads do for the VM's handshakes.
static constexpr uint64_t kRestFactor = 64;
// A turn may take this long even if the interval is short: a wake-up costs as much as several looks.
static constexpr uint64_t kTurnNs = 200'000;
// Before JDK 16 each look stops the VM: at most 50 times a second.
static constexpr uint64_t kLeastBetweenStopsNs = 20'000'000;
static constexpr uint32_t kFirstLooks = 8, kMostLooks = 1u << 20;
// The mean length of about so many turns sets the pause, so that no single turn decides it.
static constexpr uint64_t kTurnsInMean = 16;
static constexpr uint64_t kMostJump = 4;
static constexpr uint64_t kFirstStopNs = 200'000;
// Virtual threads drawn in a turn, and owners of structured scopes looked at.
static constexpr uint32_t kMostDrawn = 64;
static constexpr uint64_t kMostOwners = 64;
// Frames of the JDK's scheduler on top of a virtual thread's stack.
static constexpr jint kMostOfScheduler = 8;
static constexpr uint64_t kUnknownTime = UINT64_MAX;
// From this JDK on GetStackTrace of one thread uses a handshake instead of a safepoint.
static constexpr uint32_t kFirstWithHandshakes = 16;
// Frames asked for of the JDK's own threads: their stacks are shorter while they wait for work.
static constexpr uint32_t kOwnDepth = 48;

hprof_status WallEngine::start(const char** why) {
  const Services& s = shared_->services;
  jvmti_ = s.jvm == nullptr ? nullptr : static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
  *why = "this VM has no JVMTI";
  if (jvmti_ == nullptr) return HPROF_UNSUPPORTED;
  lost_threads_ = s.log->loss_counter(s.host, "sampled threads: no memory for them (max-memory=)");
  for (uint32_t i = 0; i < kJavaStates; i++) {
    states_[i] = s.ids->synthetic_frame(s.host, "STATE", java_state_name(static_cast<JavaState>(i)));
  }
  stops_vm_ = s.settings().java_version < kFirstWithHandshakes;
  moments_.seed(s.clock->monotonic(s.host));
  most_looks_ = kFirstLooks;
  spent_ns_ = kTurnNs / 2;
  usual_stop_ns_ = kFirstStopNs;
  together_count_ = 0;
  mounted_.open(s);
  running_.store(1, std::memory_order_seq_cst);
  s.threads->each(s.host, s.jvm->jni(s.host), this, &WallEngine::visit_new);
  sampler_ = s.threads->start(s.host, "HPROF wall clock", &WallEngine::loop, this);
  if (sampler_ != nullptr) return HPROF_OK;
  *why = "the sampling thread cannot be started";
  stop();
  return HPROF_FAILED;
}

void WallEngine::stop() {
  if (running_.exchange(0, std::memory_order_seq_cst) == 0) return;
  const Services& s = shared_->services;
  if (sampler_ != nullptr && s.threads->stop(s.host, sampler_) != HPROF_OK) {
    stuck_ = true;
    s.log->message(s.host, "cpu=samples: the sampling thread does not end");
  }
  sampler_ = nullptr;
  if (stuck_) return;
  let_all_go(static_cast<JNIEnv*>(s.jvm->jni(s.host)));
  mounted_.close();
}

// Drops the time since the last look at live threads, less than a turn.
void WallEngine::let_all_go(JNIEnv* jni) {
  if (jni == nullptr) return;
  threads_.each([&](WallThread& place) {
    threads_.end(&place, place.serial.load(std::memory_order_acquire), place.seen_ns);
    take_ended(jni, place);
  });
}

// A thread may have been ending while stop ran.
void WallEngine::close() {
  if (stuck_) return;
  const Services& s = shared_->services;
  if (jvmti_ != nullptr) let_all_go(static_cast<JNIEnv*>(s.jvm->jni(s.host)));
  threads_.close(s);
}

static bool is(hprof_text text, const char* expected) {
  return text.size == strlen(expected) && begins_with(text, expected);
}

// True: the JDK has started the thread for itself, by its thread group, and threads= does not choose it.
// A program's group of such a name has another parent.
bool WallEngine::is_of_jdk(const hprof_thread& thread) const {
  static constexpr const char* kGroups[] = {"system", "InnocuousThreadGroup", "CarrierThreads"};
  if (shared_->thread_names != nullptr && *shared_->thread_names != 0) return false;
  const Services& s = shared_->services;
  const auto info = find_thread(s.ids, s.host, thread.serial);
  const auto text = [&](hprof_string_id id) { return s.ids->string_text(s.host, id); };
  // The thread of main, when main has returned and it waits for the others.
  if (is(text(info->name), "DestroyJavaVM")) return true;
  const hprof_text parent = text(info->parent_group);
  if (parent.size != 0 && !is(parent, kGroups[0])) return false;
  for (const char* group : kGroups) {
    if (is(text(info->group), group)) return true;
  }
  return false;
}

// Frames to ask for.
uint32_t WallEngine::most_frames(const WallThread& place) {
  return place.of_jdk && place.depth < kOwnDepth ? kOwnDepth : place.depth;
}

static hprof_frame_id frame_of(const Services& s, JNIEnv* jni, const jvmtiFrameInfo& frame) {
  const hprof_raw_frame raw = {frame.method, frame.location};
  return s.ids->frame(s.host, jni, &raw, 0);
}

// True: a thread of the JDK's own waits or is in a native method, and its whole stack is the JDK's.
bool WallEngine::is_idle(JNIEnv* jni, JavaState java, const jvmtiStackInfo& stack) const {
  static constexpr const char* kOfJdk[] = {"java.", "javax.", "jdk.", "sun.", "com.sun."};
  const auto count = static_cast<uint32_t>(stack.frame_count);
  const bool is_native = count == 0 || stack.frame_buffer[0].location < 0;
  if (count >= kOwnDepth || java == JavaState::kBlocked || (java == JavaState::kRunnable && !is_native))
    return false;
  const Services& s = shared_->services;
  for (uint32_t i = 0; i < count; i++) {
    const hprof_text owner = class_name_of(s.ids, s.host, frame_of(s, jni, stack.frame_buffer[i]));
    bool is_known = false;
    for (const char* prefix : kOfJdk) is_known = is_known || begins_with(owner, prefix);
    if (!is_known) return false;
  }
  return true;
}

void WallEngine::add(JNIEnv* jni, hprof_thread* thread, jthread reference) {
  const Services& s = shared_->services;
  jweak weak = jni != nullptr ? jni->NewWeakGlobalRef(reference) : nullptr;
  if (jni != nullptr && weak == nullptr) jni->ExceptionClear();
  const uint64_t now = s.clock->monotonic(s.host);
  const bool sampled = shared_->samples_new.load(std::memory_order_relaxed);
  if (weak == nullptr || !threads_.add(s, thread, weak, sampled, is_of_jdk(*thread), now)) {
    if (weak != nullptr) jni->DeleteWeakGlobalRef(weak);
    return count_loss(lost_threads_);
  }
  // stop() may have run meanwhile, without this thread.
  if (running_.load(std::memory_order_seq_cst) == 0) thread_end(thread);
}

void WallEngine::thread_start(JNIEnv* jni, hprof_thread* thread) {
  if (running_.load(std::memory_order_seq_cst) == 0 || !shared_->takes(*thread)) return;
  if (WallThreads::find(thread) != nullptr) return;
  jthread self = nullptr;
  if (jvmti_->GetCurrentThread(&self) != JVMTI_ERROR_NONE || self == nullptr) return;
  add(jni, thread, self);
  jni->DeleteLocalRef(self);
}

uint32_t WallEngine::visit_new(void* argument, hprof_thread* thread, void* jthread_ref) {
  auto* self = static_cast<WallEngine*>(argument);
  if (jthread_ref == nullptr || !self->shared_->takes(*thread) || WallThreads::find(thread) != nullptr)
    return 1;
  const Services& s = self->shared_->services;
  self->add(static_cast<JNIEnv*>(s.jvm->jni(s.host)), thread, static_cast<jthread>(jthread_ref));
  return 1;
}

void WallEngine::thread_end(hprof_thread* thread) {
  WallThread* place = WallThreads::find(thread);
  const Services& s = shared_->services;
  if (place != nullptr) threads_.end(place, thread->serial, s.clock->monotonic(s.host));
}

// True: the thread has ended, and its place is free again.
bool WallEngine::take_ended(JNIEnv* jni, WallThread& place) {
  const hprof_thread_serial serial = place.ended.exchange(0, std::memory_order_acquire);
  if (serial == 0) return false;
  if (place.sampled.load(std::memory_order_relaxed) != 0) {
    rest_ns_ += place.open_ns;
    const uint64_t unseen = place.ended_ns > place.seen_ns ? place.ended_ns - place.seen_ns : 0;
    if (place.is_idle) facts_.idle_ns += unseen;
    if (!place.is_idle) rest_ns_ += static_cast<int64_t>(unseen);
  }
  const auto interval = static_cast<int64_t>(shared_->interval_ns);
  if (rest_ns_ >= interval) {
    shared_->book.add_reason({serial, shared_->book.events.now(), HPROF_STATE_UNKNOWN}, kNotSampled,
                             static_cast<uint64_t>(rest_ns_ / interval));
    rest_ns_ %= interval;
  }
  jni->DeleteWeakGlobalRef(place.reference);
  place.reference = nullptr;
  threads_.give_back(&place);
  return true;
}

uint64_t WallEngine::own_cpu() const {
  const Services& s = shared_->services;
  const uint64_t ns = s.clock->thread_cpu(s.host, 0);
  return ns != kUnknownTime ? ns : s.clock->monotonic(s.host);
}

uint64_t WallEngine::next_pause() {
  const uint64_t drawn = moments_.pause(shared_->interval_ns);
  uint64_t least = kRestFactor * spent_ns_;
  if (stops_vm_ && least < kLeastBetweenStopsNs) least = kLeastBetweenStopsNs;
  return drawn > least ? drawn : least + moments_.next() % (least / 2 + 1);
}

void WallEngine::loop(void* argument, void* jni, hprof_agent_thread* thread) {
  auto* self = static_cast<WallEngine*>(argument);
  const Services& s = self->shared_->services;
  // Makes the method ids of loaded classes.
  hprof_raw_frame none = {};
  s.ids->frame(s.host, jni, &none, 0);
  auto* env = static_cast<JNIEnv*>(jni);
  // Names of virtual threads are not known, so that only `*` covers them.
  if (covers(self->shared_->thread_names, {})) self->waiting_.open(s, env, s.clock->monotonic(s.host));
  self->waiting_seen_ns_ = s.clock->monotonic(s.host);
  uint64_t before = self->own_cpu();
  while (s.threads->wait(thread, self->next_pause()) != 0) {
    if (!self->shared_->book.lock.try_lock()) continue;
    self->stop_ns_ = 0;
    self->look_around(env);
    // Includes the cost of the wake-up.
    const uint64_t now = self->own_cpu();
    self->pay(now - before + self->stop_ns_);
    before = now;
    self->shared_->book.lock.unlock();
  }
  self->waiting_.close(env);
}

void WallEngine::look_around(JNIEnv* jni) {
  const uint32_t last = threads_.last();
  uint32_t looks = 0;
  for (uint32_t i = 0; i < last && looks < most_looks_ && together_count_ < kMostTogether; i++) {
    if (next_ > last) next_ = 1;
    looks += look(jni, threads_.at(next_++));
  }
  if (together_count_ != 0) take_together(jni);
  facts_.finds_virtual = waiting_.is_open();
  if (facts_.finds_virtual) {
    shared_->book.begin_draw();
    look_at_waiting(jni);
    shared_->book.end_draw();
  }
  facts_.turns++;
  if (facts_.most_threads < threads_.live()) facts_.most_threads = threads_.live();
}

// Each of them stands for as many as the draw left out, and for the time since the last turn.
void WallEngine::look_at_waiting(JNIEnv* jni) {
  const Services& s = shared_->services;
  const uint64_t now = s.clock->monotonic(s.host);
  waiting_for_ns_ = now - waiting_seen_ns_;
  waiting_seen_ns_ = now;
  waiting_.turn(jni, most_looks_ < kMostDrawn ? most_looks_ : kMostDrawn, &WallEngine::visit_waiting, this);
  // Owners of structured scopes: all, or as many at random.
  const uint64_t live = threads_.live();
  const uint64_t share = live > kMostOwners ? kMostOwners : live;
  for (uint32_t i = 1; i <= threads_.last() && share != 0; i++) {
    WallThread& place = threads_.at(i);
    if (place.serial.load(std::memory_order_acquire) == 0 || moments_.next() % live >= share) continue;
    const LocalFrame frame(jni, 16);
    jobject owner = frame.is_open() ? without_exception(jni, jni->NewLocalRef(place.reference)) : nullptr;
    if (owner != nullptr)
      waiting_.follow_scopes(jni, static_cast<jthread>(owner),
                             static_cast<double>(live) / static_cast<double>(share));
  }
  waiting_count_ = waiting_.end_turn();
  facts_.in_sets += waiting_count_;
}

// How many of the first frames are the scheduler's: LockSupport.park, Thread.sleep and the like come after
// them.
static uint32_t frames_of_scheduler(const Services& s, JNIEnv* jni, const jvmtiFrameInfo* frames,
                                    uint32_t count, bool* sleeps) {
  for (uint32_t i = 0; i < count; i++) {
    const hprof_frame_id frame = frame_of(s, jni, frames[i]);
    const hprof_text owner = class_name_of(s.ids, s.host, frame);
    const bool is_of_it = begins_with(owner, "java.lang.VirtualThread") ||
                          begins_with(owner, "java.lang.System$") || begins_with(owner, "jdk.internal.");
    if (is_of_it) continue;
    const auto method = find_method(s.ids, s.host, find_frame(s.ids, s.host, frame)->method);
    *sleeps = begins_with(s.ids->string_text(s.host, method->name), "sleep");
    return i;
  }
  return 0;
}

void WallEngine::visit_waiting(void* argument, JNIEnv* jni, jthread thread, double stands_for) {
  auto* self = static_cast<WallEngine*>(argument);
  SampleBook& book = self->shared_->book;
  const auto depth = static_cast<jint>(self->shared_->depth.load(std::memory_order_relaxed));
  jvmtiStackInfo* stack = nullptr;
  const jint asked = depth == 0 ? 0 : depth + kMostOfScheduler;
  if (self->jvmti_->GetThreadListStackTraces(1, &thread, asked, &stack) != JVMTI_ERROR_NONE ||
      stack == nullptr)
    return;
  if ((stack->state & JVMTI_THREAD_STATE_ALIVE) != 0) {
    const auto count = static_cast<uint32_t>(stack->frame_count);
    bool sleeps = false;
    const uint32_t first = frames_of_scheduler(self->shared_->services, jni, stack->frame_buffer,
                                               count < kMostOfScheduler ? count : kMostOfScheduler, &sleeps);
    JavaState java = java_state(stack->state);
    if (java == JavaState::kRunnable || java == JavaState::kNative) java = JavaState::kQueued;
    if (java == JavaState::kParked && sleeps) java = JavaState::kSleeping;  // the VM says parked
    const hprof_frame_id state = self->states_[static_cast<uint32_t>(java)];
    const auto* frames = reinterpret_cast<const hprof_raw_frame*>(stack->frame_buffer + first);
    const hprof_trace_serial trace = count != 0
                                         ? book.trace_of(jni, 0, frames, count - first, state)
                                         : book.trace_of(0, depth == 0 ? kDepthZero : kNoJavaFrame, state);
    const auto interval = static_cast<double>(self->shared_->interval_ns);
    self->waiting_open_ns_ += static_cast<double>(self->waiting_for_ns_) * stands_for;
    const auto weight = static_cast<uint64_t>(self->waiting_open_ns_ / interval);
    self->waiting_open_ns_ -= static_cast<double>(weight) * interval;
    self->facts_.drawn++;
    if (weight != 0)
      book.add({0, book.events.now(), state_of(java), book.events.of(0, jni, thread)}, trace, weight);
  }
  self->jvmti_->Deallocate(reinterpret_cast<unsigned char*>(stack));
}

// Records the length of the turn, which decides how many looks the next one has time for.
void WallEngine::pay(uint64_t spent_ns) {
  facts_.spent_ns += spent_ns;
  // Naming a method takes long the first time only, so one turn does not raise the mean by more than this.
  if (spent_ns > kMostJump * spent_ns_) spent_ns = kMostJump * spent_ns_;
  spent_ns_ += spent_ns / kTurnsInMean;
  spent_ns_ -= spent_ns_ / kTurnsInMean;
  const uint64_t by_interval = shared_->interval_ns / kRestFactor;
  const uint64_t wanted = by_interval > kTurnNs ? by_interval : kTurnNs;
  uint64_t most = most_looks_;
  if (spent_ns_ > wanted) {
    most = most * wanted / spent_ns_;
  } else if (most < threads_.live() || most < (waiting_count_ < kMostDrawn ? waiting_count_ : kMostDrawn)) {
    most += most / 4 + 1;
  }
  most_looks_ = static_cast<uint32_t>(most < 1 ? 1 : most > kMostLooks ? kMostLooks : most);
}

// True: the thread has not run since its trace was taken.
bool WallEngine::stands_still(const WallThread& place, uint64_t cpu, uint32_t depth) const {
  // Only CPU clocks that timers use are known to be exact.
  const bool is_exact = shared_->services.sampling != nullptr && cpu != kUnknownTime;
  return is_exact && place.trace != 0 && place.cpu_ns == cpu && place.depth == depth;
}

// Returns how many looks it took: none for ended threads, so that they do not pile up.
uint32_t WallEngine::look(JNIEnv* jni, WallThread& place) {
  const Services& s = shared_->services;
  if (take_ended(jni, place)) return 0;
  const hprof_thread_serial serial = place.serial.load(std::memory_order_acquire);
  if (serial == 0) return 0;
  if (place.sampled.load(std::memory_order_relaxed) == 0) {
    place.seen_ns = s.clock->monotonic(s.host);
    place.open_ns = 0;
    return 0;
  }
  // Read before the stack is taken, so that whatever the thread does after that shows at the next look.
  const uint64_t cpu = place.os_id == 0 ? kUnknownTime : s.clock->thread_cpu(s.host, place.os_id);
  const uint32_t depth = shared_->depth.load(std::memory_order_relaxed);
  if (stands_still(place, cpu, depth)) {
    count(place, serial);
    return 1;
  }
  place.cpu_ns = cpu;
  place.depth = depth;
  place.trace = 0;
  if (stops_vm_) {
    together_[together_count_++] = {&place, serial};
  } else {
    take_stack(jni, place, serial);
  }
  return 1;
}

void WallEngine::take_stack(JNIEnv* jni, WallThread& place, hprof_thread_serial serial) {
  LocalFrame frame(jni, 16);
  if (!frame.is_open()) return;
  jthread thread = without_exception(jni, jni->NewLocalRef(place.reference));
  if (thread == nullptr) return;
  jthread mounted = mounted_.find(thread);
  if (mounted != nullptr) thread = mounted;
  jvmtiStackInfo* stack = nullptr;
  if (jvmti_->GetThreadListStackTraces(1, &thread, static_cast<jint>(most_frames(place)), &stack) !=
      JVMTI_ERROR_NONE)
    return;
  if (stack == nullptr) return;  // the thread is ending: the VM reports no error, and no stack
  count_stack(jni, place, serial, *stack, mounted != nullptr);
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(stack));
}

void WallEngine::take_together(JNIEnv* jni) {
  const Services& s = shared_->services;
  const uint32_t most = together_count_;
  together_count_ = 0;
  LocalFrame frame(jni, 2 * kMostTogether + 16);
  if (!frame.is_open()) return;
  jthread threads[kMostTogether];
  jint count = 0;
  uint32_t depth = 0;
  for (uint32_t i = 0; i < most; i++) {
    jthread thread = without_exception(jni, jni->NewLocalRef(together_[i].place->reference));
    if (thread == nullptr) continue;
    const uint32_t frames = most_frames(*together_[i].place);
    if (depth < frames) depth = frames;
    threads[count] = thread;
    together_[count++] = together_[i];
  }
  if (count == 0) return;
  const uint64_t before = s.clock->monotonic(s.host);
  jvmtiStackInfo* stacks = nullptr;
  const jvmtiError error =
      jvmti_->GetThreadListStackTraces(count, threads, static_cast<jint>(depth), &stacks);
  stop_ns_ = s.clock->monotonic(s.host) - before;
  // Limits an outlier: on a busy machine the VM's thread sometimes waits for a processor.
  if (stop_ns_ > 2 * usual_stop_ns_) stop_ns_ = 2 * usual_stop_ns_;
  usual_stop_ns_ = stop_ns_;
  facts_.stops++;
  if (error != JVMTI_ERROR_NONE || stacks == nullptr) return;
  for (jint i = 0; i < count; i++)
    count_stack(jni, *together_[i].place, together_[i].serial, stacks[i], false);
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(stacks));
}

void WallEngine::count_stack(JNIEnv* jni, WallThread& place, hprof_thread_serial serial,
                             const jvmtiStackInfo& stack, bool is_mounted) {
  if ((stack.state & JVMTI_THREAD_STATE_ALIVE) == 0) return;  // not started, or ended
  SampleBook& book = shared_->book;
  const JavaState java = java_state(stack.state);
  const hprof_frame_id state = states_[static_cast<uint32_t>(java)];
  place.state = state_of(java);
  auto frames = static_cast<uint32_t>(stack.frame_count);
  if (frames > place.depth) frames = place.depth;
  if (frames != 0) {
    place.trace = book.trace_of(jni, serial, reinterpret_cast<const hprof_raw_frame*>(stack.frame_buffer),
                                frames, state);
  } else {
    place.trace = book.trace_of(serial, place.depth == 0 ? kDepthZero : kNoJavaFrame, state);
  }
  place.is_idle = place.of_jdk && !is_mounted && is_idle(jni, java, stack);
  place.context = book.events.of(serial, jni, stack.thread);
  facts_.stacks++;
  count(place, serial);
}

void WallEngine::count(WallThread& place, hprof_thread_serial serial) {
  const Services& s = shared_->services;
  const uint64_t now = s.clock->monotonic(s.host);
  const auto interval = static_cast<int64_t>(shared_->interval_ns);
  const uint64_t since = now - place.seen_ns;
  place.seen_ns = now;
  facts_.looks++;
  if (place.is_idle) {
    facts_.idle_ns += since;
    return;
  }
  place.open_ns += static_cast<int64_t>(since);
  // Rounds to the nearest interval, so that at most half of one is carried over.
  const int64_t weight = place.open_ns > 0 ? (place.open_ns + interval / 2) / interval : 0;
  place.open_ns -= weight * interval;
  if (weight != 0)
    shared_->book.add({serial, now, place.state, place.context}, static_cast<hprof_trace_serial>(place.trace),
                      static_cast<uint64_t>(weight));
}

void WallEngine::forget() {
  const Services& s = shared_->services;
  const uint64_t now = s.clock->monotonic(s.host);
  threads_.each([&](WallThread& place) {
    place.seen_ns = now;
    place.open_ns = 0;
  });
  waiting_seen_ns_ = now;
  waiting_open_ns_ = 0;
  rest_ns_ = 0;
  facts_ = {};
}

bool WallEngine::switch_sampling(hprof_object_id object, bool on) {
  const Services& s = shared_->services;
  bool found = object == 0;
  threads_.each([&](WallThread& place) {
    const hprof_thread_serial serial = place.serial.load(std::memory_order_acquire);
    if (serial == 0) return;
    if (object != 0 && find_thread(s.ids, s.host, serial)->object != object) return;
    found = true;
    place.sampled.store(on ? 1 : 0, std::memory_order_relaxed);
  });
  return found;
}

void WallEngine::settle() {
  const Services& s = shared_->services;
  if (auto* jni = static_cast<JNIEnv*>(s.jvm->jni(s.host))) {
    threads_.each([&](WallThread& place) { take_ended(jni, place); });
  }
  kept_facts_ = facts_;
  kept_facts_.idle = facts_.idle_ns / shared_->interval_ns;
  kept_facts_.counted = shared_->book.total();
}

hprof_status WallEngine::write_note(uint64_t watched_ns) const {
  const WallFacts& facts = kept_facts_;
  if (facts.turns == 0) return HPROF_OK;
  Note line;
  line.add("cpu=samples: elapsed time of threads, whatever they did; looks at random moments in ");
  line.add(facts.turns).add(" turns, one every ").decimal(watched_ns / facts.turns / 1000, 3);
  line.add(" ms, each at ").decimal(facts.looks * 10 / facts.turns, 1).add(" of up to ");
  line.add(facts.most_threads).add(" threads; ").add(facts.stacks);
  line.add(" stacks were taken, the other looks found threads that had not run since; ");
  if (stops_vm_)
    line.add("the VM was stopped ").add(facts.stops).add(" times for them, at most 50 a second; ");
  hprof_status status = hprof::write_note(shared_->services, line.add("this took ").seconds(facts.spent_ns));
  if (status == HPROF_OK && facts.idle != 0) {
    Note idle;
    idle.add("cpu=samples: not in the table: ").add(facts.idle).add(" samples, ");
    idle.decimal(facts.idle * 10000 / (facts.idle + facts.counted), 2);
    idle.add("% of all, of the JDK's own threads while they waited (threads=* shows them)");
    status = hprof::write_note(shared_->services, idle);
  }
  if (status != HPROF_OK || shared_->services.settings().java_version < 21) return status;
  Note waiting;
  waiting.add("cpu=samples: virtual threads without a carrier: ");
  if (facts.drawn != 0) {
    waiting.add(facts.drawn).add(" looks at random ones of about ").add(facts.in_sets / facts.turns);
  } else if (!covers(shared_->thread_names, {})) {
    waiting.add("not looked at with threads=");
  } else {
    waiting.add(facts.finds_virtual ? "none was found" : "this VM does not list them");
  }
  char* tracked = nullptr;
  if (jvmti_->GetSystemProperty("jdk.trackAllThreads", &tracked) == JVMTI_ERROR_NONE) {
    if (*tracked != 0 && strcmp(tracked, "true") != 0)
      waiting.add("; the VM lists only those of executors (jdk.trackAllThreads=").add(tracked).add(")");
    jvmti_->Deallocate(reinterpret_cast<unsigned char*>(tracked));
  }
  return hprof::write_note(shared_->services, waiting);
}

}  // namespace hprof::samples
