#include "wall_engine.h"

#include <cstring>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

namespace hprof::samples {

static_assert(sizeof(jvmtiFrameInfo) == sizeof(hprof_raw_frame), "stacks are passed on as they are");

static constexpr uint64_t kUnknownTime = UINT64_MAX;
// From this JDK on GetStackTrace of one thread uses a handshake instead of a safepoint.
static constexpr uint32_t kFirstWithHandshakes = 16;

hprof_status WallEngine::start(const char** why) {
  const Services& s = shared_->services;
  jvmti_ = s.jvm == nullptr ? nullptr : static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
  *why = "this VM has no JVMTI";
  if (jvmti_ == nullptr) return HPROF_UNSUPPORTED;
  lost_threads_ = s.log->loss_counter(s.host, "sampled threads: no memory for them (max-memory=)");
  counts_.open(shared_);
  stops_vm_ = s.settings().java_version < kFirstWithHandshakes;
  turns_.open(s.clock->monotonic(s.host), stops_vm_);
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

// Drops the time since the last sample of live threads, less than a turn.
void WallEngine::let_all_go(JNIEnv* jni) {
  if (jni == nullptr) return;
  threads_.each([&](WallThread& entry) {
    threads_.end(&entry, entry.serial.load(std::memory_order_acquire), entry.seen_ns);
    take_ended(jni, entry);
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
  WallThread* entry = WallThreads::find(thread);
  const Services& s = shared_->services;
  if (entry != nullptr) threads_.end(entry, thread->serial, s.clock->monotonic(s.host));
}

// True: the thread has ended, and its entry is free again.
bool WallEngine::take_ended(JNIEnv* jni, WallThread& entry) {
  const hprof_thread_serial serial = entry.ended.exchange(0, std::memory_order_acquire);
  if (serial == 0) return false;
  counts_.add_end(entry, serial);
  jni->DeleteWeakGlobalRef(entry.reference);
  entry.reference = nullptr;
  threads_.give_back(&entry);
  return true;
}

uint64_t WallEngine::own_cpu() const {
  const Services& s = shared_->services;
  const uint64_t ns = s.clock->thread_cpu(s.host, 0);
  return ns != kUnknownTime ? ns : s.clock->monotonic(s.host);
}

void WallEngine::loop(void* argument, void* jni, hprof_agent_thread* thread) {
  auto* self = static_cast<WallEngine*>(argument);
  const Services& s = self->shared_->services;
  // Makes the method ids of loaded classes.
  hprof_raw_frame none = {};
  s.ids->frame(s.host, jni, &none, 0);
  auto* env = static_cast<JNIEnv*>(jni);
  self->virtual_.open(self->shared_, self->jvmti_, env, &self->counts_);
  uint64_t before = self->own_cpu();
  while (s.threads->wait(thread, self->turns_.next_pause(self->shared_->interval_ns)) != 0) {
    if (!self->shared_->book.lock.try_lock()) continue;
    self->turn(env);
    // Includes the cost of the wake-up.
    const uint64_t now = self->own_cpu();
    const uint64_t live = self->threads_.live(), waiting = self->virtual_.wanted();
    self->counts_.facts.spent_ns +=
        self->turns_.end(now - before, live > waiting ? live : waiting, self->shared_->interval_ns);
    before = now;
    self->shared_->book.lock.unlock();
  }
  self->virtual_.close(env);
}

void WallEngine::turn(JNIEnv* jni) {
  turns_.begin();
  const uint32_t last = threads_.last();
  uint32_t samples = 0;
  for (uint32_t i = 0; i < last && samples < turns_.most_samples() && together_count_ < kMostTogether; i++)
    samples += sample(jni, threads_.at(turns_.next_thread(last)));
  if (together_count_ != 0) take_together(jni);
  virtual_.turn(jni, turns_, threads_);
  WallFacts& facts = counts_.facts;
  facts.turns++;
  if (facts.most_threads < threads_.live()) facts.most_threads = threads_.live();
}

// True: the thread has not run since its trace was taken.
bool WallEngine::stands_still(const WallThread& entry, uint64_t cpu, uint32_t depth) const {
  // Only CPU clocks that timers use are known to be exact.
  const bool is_exact = shared_->services.sampling != nullptr && cpu != kUnknownTime;
  return is_exact && entry.trace != 0 && entry.cpu_ns == cpu && entry.depth == depth;
}

// Returns how many samples it took: none of ended threads, so that they do not pile up.
uint32_t WallEngine::sample(JNIEnv* jni, WallThread& entry) {
  const Services& s = shared_->services;
  if (take_ended(jni, entry)) return 0;
  const hprof_thread_serial serial = entry.serial.load(std::memory_order_acquire);
  if (serial == 0) return 0;
  if (entry.sampled.load(std::memory_order_relaxed) == 0) {
    entry.seen_ns = s.clock->monotonic(s.host);
    entry.open_ns = 0;
    return 0;
  }
  // Read before the stack is taken, so that whatever the thread does after that shows at the next sample.
  const uint64_t cpu = entry.os_id == 0 ? kUnknownTime : s.clock->thread_cpu(s.host, entry.os_id);
  const uint32_t depth = shared_->depth.load(std::memory_order_relaxed);
  if (stands_still(entry, cpu, depth)) {
    counts_.add(entry, serial);
    return 1;
  }
  entry.cpu_ns = cpu;
  entry.depth = depth;
  entry.trace = 0;
  if (stops_vm_) {
    together_[together_count_++] = {&entry, serial};
  } else {
    take_stack(jni, entry, serial);
  }
  return 1;
}

void WallEngine::take_stack(JNIEnv* jni, WallThread& entry, hprof_thread_serial serial) {
  LocalFrame frame(jni, 16);
  if (!frame.is_open()) return;
  jthread thread = without_exception(jni, jni->NewLocalRef(entry.reference));
  if (thread == nullptr) return;
  jthread mounted = mounted_.find(thread);
  if (mounted != nullptr) thread = mounted;
  jvmtiStackInfo* stack = nullptr;
  if (jvmti_->GetThreadListStackTraces(1, &thread, static_cast<jint>(WallCounts::most_frames(entry)),
                                       &stack) != JVMTI_ERROR_NONE)
    return;
  if (stack == nullptr) return;  // the thread is ending: the VM reports no error, and no stack
  counts_.add_stack(jni, entry, serial, *stack, mounted != nullptr);
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
    jthread thread = without_exception(jni, jni->NewLocalRef(together_[i].thread->reference));
    if (thread == nullptr) continue;
    const uint32_t frames = WallCounts::most_frames(*together_[i].thread);
    if (depth < frames) depth = frames;
    threads[count] = thread;
    together_[count++] = together_[i];
  }
  if (count == 0) return;
  const uint64_t before = s.clock->monotonic(s.host);
  jvmtiStackInfo* stacks = nullptr;
  const jvmtiError error =
      jvmti_->GetThreadListStackTraces(count, threads, static_cast<jint>(depth), &stacks);
  turns_.add_stop(s.clock->monotonic(s.host) - before);
  counts_.facts.stops++;
  if (error != JVMTI_ERROR_NONE || stacks == nullptr) return;
  for (jint i = 0; i < count; i++)
    counts_.add_stack(jni, *together_[i].thread, together_[i].serial, stacks[i], false);
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(stacks));
}

void WallEngine::forget() {
  const Services& s = shared_->services;
  const uint64_t now = s.clock->monotonic(s.host);
  threads_.each([&](WallThread& entry) {
    entry.seen_ns = now;
    entry.open_ns = 0;
  });
  virtual_.forget(now);
  counts_.clear();
}

bool WallEngine::switch_sampling(hprof_object_id object, bool on) {
  const Services& s = shared_->services;
  bool found = object == 0;
  threads_.each([&](WallThread& entry) {
    const hprof_thread_serial serial = entry.serial.load(std::memory_order_acquire);
    if (serial == 0) return;
    if (object != 0 && find_thread(s.ids, s.host, serial)->object != object) return;
    found = true;
    entry.sampled.store(on ? 1 : 0, std::memory_order_relaxed);
  });
  return found;
}

void WallEngine::settle() {
  const Services& s = shared_->services;
  if (auto* jni = static_cast<JNIEnv*>(s.jvm->jni(s.host))) {
    threads_.each([&](WallThread& entry) { take_ended(jni, entry); });
  }
  counts_.facts.drawn_error = virtual_.error(s.clock->monotonic(s.host));
  counts_.keep_facts();
}

hprof_status WallEngine::write_note(uint64_t watched_ns) const {
  return counts_.write_note(jvmti_, watched_ns, stops_vm_);
}

}  // namespace hprof::samples
