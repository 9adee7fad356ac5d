// Samples by JVMTI.
#include "jvmti_engine.h"

#include <hprof/cpp/clock_step.hpp>
#include <hprof/cpp/local_frame.hpp>
#include <hprof/cpp/text.hpp>

#include "due_times.h"

namespace hprof::samples {

static_assert(sizeof(jvmtiFrameInfo) == sizeof(hprof_raw_frame), "stacks are passed on as they are");

static constexpr uint64_t kUnknownTime = UINT64_MAX;

// Makes the interval at least the CPU clock's step: in a shorter one a round would find no CPU time used.
void JvmtiEngine::raise_interval() {
  const Services& s = shared_->services;
  const uint64_t step = cpu_clock_step(s);
  shared_->clock_step_ns = step > kCoarseStepNs ? step : 0;
  if (shared_->clock_step_ns <= shared_->interval_ns) return;
  TextLine<200> line;
  line.add("cpu=samples: CPU clocks move in steps of ").decimal(step / 1000, 3);
  line.add(" ms on this system; interval= is raised to that");
  s.log->message(s.host, line.c_str());
  shared_->interval_ns = step;
}

hprof_status JvmtiEngine::start_for(Whose whose, const char** why) {
  const Services& s = shared_->services;
  jvmti_ = s.jvm == nullptr ? nullptr : static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
  if (jvmti_ == nullptr) {
    *why = "this VM has no JVMTI";
    return HPROF_UNSUPPORTED;
  }
  lost_threads_ = s.log->loss_counter(s.host, "sampled threads: their CPU time cannot be read (clock=wall)");
  uint32_t depth = shared_->book.depth();
  if (frames_ == nullptr || depth_ < depth) {
    close();
    depth_ = depth;
    frames_ = s.allocate<jvmtiFrameInfo>(depth);
    candidates_ = s.allocate<Candidate>(kMostCandidates);
    if (frames_ == nullptr || candidates_ == nullptr) {
      close();
      *why = "no memory for stacks";
      return HPROF_NO_MEMORY;
    }
  }
  mounted_.open(s);
  if (whose == Whose::kAll) s.threads->each(s.host, s.jvm->jni(s.host), this, &JvmtiEngine::visit_new);
  sampler_ = s.threads->start(s.host, "HPROF cpu samples", &JvmtiEngine::loop, this);
  if (sampler_ == nullptr) {
    *why = "the sampling thread cannot be started";
    stop();
    return HPROF_FAILED;
  }
  return HPROF_OK;
}

void JvmtiEngine::stop() {
  const Services& s = shared_->services;
  if (sampler_ != nullptr && s.threads->stop(s.host, sampler_) != HPROF_OK) {
    sampler_stuck_ = true;
    s.log->message(s.host, "cpu=samples: the sampling thread does not end");
  }
  sampler_ = nullptr;
  shared_->threads.each([&](SampledThread* entry, hprof_thread_serial serial) {
    let_go(entry, serial, entry->os_id.load(std::memory_order_relaxed));
  });
  if (sampler_stuck_) return;
  mounted_.close();
  if (!shared_->book.lock.try_lock()) return;
  settle();
  shared_->book.lock.unlock();
}

void JvmtiEngine::close() {
  if (sampler_stuck_) return;
  shared_->services.release(frames_, depth_);
  shared_->services.release(candidates_, kMostCandidates);
  frames_ = nullptr;
  candidates_ = nullptr;
  depth_ = 0;
}

uint64_t JvmtiEngine::cpu_time(uint64_t os_id, jthread thread) const {
  const Services& s = shared_->services;
  uint64_t ns = os_id == 0 ? kUnknownTime : s.clock->thread_cpu(s.host, os_id);
  if (ns != kUnknownTime || thread == nullptr) return ns;
  jlong by_vm = 0;
  return jvmti_->GetThreadCpuTime(thread, &by_vm) == JVMTI_ERROR_NONE ? static_cast<uint64_t>(by_vm)
                                                                      : kUnknownTime;
}

// Stops sampling a thread, and counts its CPU time since the last round, which has no stack.
void JvmtiEngine::let_go(SampledThread* entry, hprof_thread_serial serial, uint64_t os_id) {
  const uint64_t cpu = cpu_time(os_id, nullptr);
  {
    LockGuard guard(entry->lock, shared_->services);
    const uint64_t weight = record_cpu(entry, serial, cpu) / shared_->interval_ns;
    if (weight != 0) rest_thread_.store(serial, std::memory_order_relaxed);
    rest_.fetch_add(weight, std::memory_order_relaxed);
  }
  hprof_cpu_timer* none = nullptr;
  shared_->threads.give_back(shared_->services, entry, serial, &none);
}

bool JvmtiEngine::take_over(SampledThread* entry, hprof_thread_serial serial, uint64_t cpu) {
  LockGuard guard(entry->lock, shared_->services);
  if (entry->serial.load(std::memory_order_relaxed) != serial) return false;
  entry->by_jvmti.store(1, std::memory_order_relaxed);
  entry->cpu_seen.store(cpu, std::memory_order_relaxed);
  entry->cpu_open.store(draw(entry, cpu, shared_->interval_ns), std::memory_order_relaxed);
  return true;
}

void JvmtiEngine::settle() {
  const uint64_t rest = rest_.exchange(0, std::memory_order_relaxed);
  if (rest != 0)
    shared_->book.add_reason(now(rest_thread_.load(std::memory_order_relaxed), nullptr, nullptr),
                             kNotSeenRunning, rest);
}

// The CPU time used so far does not count: a native thread has run before it was attached.
void JvmtiEngine::thread_start(JNIEnv*, hprof_thread* thread) {
  if (!shared_->takes(*thread)) return;
  const uint64_t cpu = thread->os_id != 0 ? cpu_time(thread->os_id, nullptr) : kUnknownTime;
  SampledThread* entry = entry_of(thread, cpu);
  // The first interval begins at a random moment, so that threads that use less than an interval are sampled
  // in proportion to their CPU time.
  if (entry != nullptr)
    entry->cpu_open.fetch_add(draw(entry, cpu, shared_->interval_ns), std::memory_order_relaxed);
}

SampledThread* JvmtiEngine::entry_of(hprof_thread* thread, uint64_t cpu) {
  bool is_new = false;
  SampledThread* entry = shared_->threads.get(shared_->services, thread,
                                              shared_->samples_new.load(std::memory_order_relaxed), &is_new);
  uint64_t none = SampledThreads::kCpuNotSeen;
  if (entry != nullptr) entry->by_jvmti.store(1, std::memory_order_relaxed);
  // If the CPU time is not known, the next round reads it.
  if (entry != nullptr && cpu != kUnknownTime) entry->cpu_seen.compare_exchange_strong(none, cpu);
  return entry;
}

void JvmtiEngine::thread_end(hprof_thread* thread) {
  SampledThread* entry = SampledThreads::find(thread);
  if (entry != nullptr) let_go(entry, thread->serial, thread->os_id);
}

// Records the reading `cpu` of the thread's CPU clock. Returns the CPU time that is not charged yet; 0: none,
// or the thread has ended. The caller holds the entry's lock.
uint64_t JvmtiEngine::record_cpu(SampledThread* entry, hprof_thread_serial serial, uint64_t cpu) const {
  const uint64_t seen = entry->cpu_seen.load(std::memory_order_relaxed);
  if (entry->serial.load(std::memory_order_relaxed) != serial) return 0;
  if (cpu == kUnknownTime || seen == SampledThreads::kCpuNotSeen || cpu <= seen) return 0;
  const bool sampled = entry->sampled.load(std::memory_order_relaxed) != 0;
  const Services& s = shared_->services;
  const uint64_t most = most_used(entry, s.clock->monotonic(s.host));
  const uint64_t used = cpu - seen < most ? cpu - seen : most;
  const uint64_t open = sampled ? entry->cpu_open.load(std::memory_order_relaxed) + used : 0;
  entry->cpu_seen.store(cpu, std::memory_order_relaxed);
  entry->cpu_open.store(open, std::memory_order_relaxed);
  return open;
}

bool JvmtiEngine::has_ended(jthread thread) const {
  jint state = 0;
  return thread != nullptr && jvmti_->GetThreadState(thread, &state) == JVMTI_ERROR_NONE &&
         (state & JVMTI_THREAD_STATE_TERMINATED) != 0;
}

// Begins to sample a thread that runs already when the engine starts.
uint32_t JvmtiEngine::visit_new(void* argument, hprof_thread* thread, void* jthread_ref) {
  auto* self = static_cast<JvmtiEngine*>(argument);
  if (!self->shared_->takes(*thread)) return 1;
  uint64_t cpu = self->cpu_time(thread->os_id, static_cast<jthread>(jthread_ref));
  if (cpu == kUnknownTime) {
    if (self->has_ended(static_cast<jthread>(jthread_ref))) return 1;
    count_loss(self->lost_threads_);
  }
  SampledThread* entry = self->entry_of(thread, cpu);
  // A thread whose sampling was stopped for a while has an entry already.
  if (entry != nullptr && cpu != kUnknownTime) entry->cpu_seen.store(cpu, std::memory_order_relaxed);
  return 1;
}

void JvmtiEngine::loop(void* argument, void* jni, hprof_agent_thread* thread) {
  auto* self = static_cast<JvmtiEngine*>(argument);
  const Services& s = self->shared_->services;
  self->moments_.seed(s.clock->monotonic(s.host));
  // Rounds that were missed since one took longer than an interval are not repeated: the weights make up for
  // them.
  while (s.threads->wait(thread, self->moments_.pause(self->shared_->interval_ns)) != 0)
    self->sample_threads(static_cast<JNIEnv*>(jni));
}

uint32_t JvmtiEngine::visit(void* argument, hprof_thread* thread, void* jthread_ref) {
  auto* self = static_cast<JvmtiEngine*>(argument);
  SampledThread* entry = SampledThreads::find(thread);
  if (entry == nullptr || entry->by_jvmti.load(std::memory_order_relaxed) == 0) return 1;
  const uint64_t cpu = self->cpu_time(thread->os_id, static_cast<jthread>(jthread_ref));
  uint64_t none = SampledThreads::kCpuNotSeen;
  if (cpu == kUnknownTime || entry->cpu_seen.compare_exchange_strong(none, cpu)) return 1;
  auto ref = static_cast<jthread>(jthread_ref);
  const uint64_t weight = self->charge(entry, thread->serial, cpu, &ref);
  if (weight == 0) return 1;
  self->candidates_[self->candidate_count_++] = {ref,           ref, entry,  thread->serial,
                                                 thread->os_id, cpu, weight, false};
  return self->candidate_count_ < kMostCandidates ? 1 : 0;
}

// Charges the thread's CPU time to a sample: returns its weight, in whole intervals, and makes *ref a local
// reference that outlives the visit. 0: not due, or no memory.
uint64_t JvmtiEngine::charge(SampledThread* entry, hprof_thread_serial serial, uint64_t cpu, jthread* ref) {
  const uint64_t interval = shared_->interval_ns;
  LockGuard guard(entry->lock, shared_->services);
  const uint64_t open = record_cpu(entry, serial, cpu);
  if (open < interval || *ref == nullptr) return 0;
  *ref = static_cast<jthread>(jni_->NewLocalRef(static_cast<jobject>(*ref)));
  if (*ref == nullptr) {
    jni_->ExceptionClear();
    return 0;
  }
  entry->cpu_open.store(open % interval, std::memory_order_relaxed);
  return open / interval;
}

// Returns the charge to the thread, for its next sample. False: the thread has ended, or has been found
// blocked for too long.
bool JvmtiEngine::uncharge(const Candidate& candidate, bool had_book) {
  SampledThread* entry = candidate.entry;
  LockGuard guard(entry->lock, shared_->services);
  if (had_book && candidate.weight >= kPatience) return false;
  if (entry->serial.load(std::memory_order_relaxed) != candidate.serial) return false;
  entry->cpu_open.fetch_add(candidate.weight * shared_->interval_ns, std::memory_order_relaxed);
  return true;
}

void JvmtiEngine::sample_threads(JNIEnv* jni) {
  const Services& s = shared_->services;
  jni_ = jni;
  candidate_count_ = 0;
  const LocalFrame locals(jni, 2 * kMostCandidates + 16);
  if (!locals.is_open()) return;
  s.threads->each(s.host, jni, this, &JvmtiEngine::visit);
  const bool has_book = shared_->book.lock.try_lock();
  if (has_book && candidate_count_ != 0) take_stacks(jni);
  carry_over(has_book);
  if (has_book) shared_->book.lock.unlock();
}

// The CPU clock of a running thread advances during the round. If it does not, the thread may have lost its
// CPU (always, if there is only one), which is fine in Java code; in native code it is more likely blocked.
bool JvmtiEngine::is_running(const Candidate& candidate) {
  jint state = 0;
  if (jvmti_->GetThreadState(candidate.thread, &state) != JVMTI_ERROR_NONE) return false;
  if ((state & JVMTI_THREAD_STATE_RUNNABLE) == 0) return false;
  if ((state & JVMTI_THREAD_STATE_IN_NATIVE) == 0) return true;
  uint64_t cpu = cpu_time(candidate.os_id, candidate.carrier);
  return cpu != kUnknownTime && cpu != candidate.cpu;
}

void JvmtiEngine::take_stacks(JNIEnv* jni) {
  jthread together[kMostCandidates];
  uint32_t index[kMostCandidates];
  jint count_together = 0;
  uint32_t depth = shared_->depth.load(std::memory_order_relaxed);
  if (depth > depth_) depth = depth_;
  for (uint32_t i = 0; i < candidate_count_; i++) {
    Candidate* candidate = &candidates_[i];
    if (jthread mounted = mounted_.find(candidate->carrier)) candidate->thread = mounted;
    if (!is_running(*candidate)) continue;
    if (candidate->thread == candidate->carrier && depth != 0) {
      index[count_together] = i;
      together[count_together++] = candidate->thread;
      continue;
    }
    jint frames = 0;
    jvmtiError error =
        depth == 0 ? JVMTI_ERROR_NONE
                   : jvmti_->GetStackTrace(candidate->thread, 0, static_cast<jint>(depth), frames_, &frames);
    count(jni, candidate, frames_, frames, error);
  }
  if (count_together == 1) {
    jint frames = 0;
    jvmtiError error = jvmti_->GetStackTrace(together[0], 0, static_cast<jint>(depth), frames_, &frames);
    count(jni, &candidates_[index[0]], frames_, frames, error);
  } else if (count_together > 1) {
    // One safepoint for all of them.
    jvmtiStackInfo* stacks = nullptr;
    jvmtiError error =
        jvmti_->GetThreadListStackTraces(count_together, together, static_cast<jint>(depth), &stacks);
    for (jint i = 0; i < count_together; i++) {
      if (error == JVMTI_ERROR_NONE) {
        count(jni, &candidates_[index[i]], stacks[i].frame_buffer, stacks[i].frame_count, error);
      }
    }
    if (error == JVMTI_ERROR_NONE) jvmti_->Deallocate(reinterpret_cast<unsigned char*>(stacks));
  }
}

void JvmtiEngine::count(JNIEnv* jni, Candidate* candidate, const jvmtiFrameInfo* frames, jint count,
                        jvmtiError error) {
  if (error != JVMTI_ERROR_NONE) return;  // its thread is ending
  const uint64_t weight = candidate->weight;
  const SampleHead head =
      now(candidate->serial, jni, candidate->thread, candidate->thread != candidate->carrier);
  if (count > 0) {
    shared_->book.add_stack(jni, head, reinterpret_cast<const hprof_raw_frame*>(frames),
                            static_cast<uint32_t>(count), weight);
  } else {
    bool none_asked = shared_->depth.load(std::memory_order_relaxed) == 0;
    shared_->book.add_reason(head, none_asked ? kDepthZero : kNoJavaFrame, weight);
  }
  candidate->counted = true;
}

// Returns the charges of candidates without a sample to their threads, or counts them as not_seen_running.
void JvmtiEngine::carry_over(bool has_book) {
  for (uint32_t i = 0; i < candidate_count_; i++) {
    const Candidate& candidate = candidates_[i];
    if (candidate.counted || uncharge(candidate, has_book)) continue;
    rest_thread_.store(candidate.serial, std::memory_order_relaxed);
    rest_.fetch_add(candidate.weight, std::memory_order_relaxed);
  }
  if (has_book) settle();
}

}  // namespace hprof::samples
