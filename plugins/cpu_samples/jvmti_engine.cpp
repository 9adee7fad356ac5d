// Samples by JVMTI.
#include "plugins/cpu_samples/jvmti_engine.h"

namespace hprof::samples {

static_assert(sizeof(jvmtiFrameInfo) == sizeof(hprof_raw_frame), "stacks are passed on as they are");

static constexpr uint64_t kUnknownTime = UINT64_MAX;

hprof_status JvmtiEngine::start(const char** why) {
  const Services& s = shared_->services;
  jvmti_ = s.jvm == nullptr ? nullptr : static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
  if (jvmti_ == nullptr) {
    *why = "this VM has no JVMTI";
    return HPROF_UNSUPPORTED;
  }
  lost_threads_ = s.log->loss_counter(s.host, "threads without CPU samples: their CPU time cannot be read");
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
  s.threads->each(s.host, s.jvm->jni(s.host), this, &JvmtiEngine::visit_new);
  looker_ = s.threads->start(s.host, "HPROF cpu samples", &JvmtiEngine::loop, this);
  if (looker_ == nullptr) {
    *why = "the sampling thread cannot be started";
    stop();
    return HPROF_FAILED;
  }
  return HPROF_OK;
}

void JvmtiEngine::stop() {
  const Services& s = shared_->services;
  if (looker_ != nullptr && s.threads->stop(s.host, looker_) != HPROF_OK) {
    looker_stuck_ = true;
    s.log->message(s.host, "cpu=samples: the sampling thread does not end");
  }
  looker_ = nullptr;
  shared_->threads.each([&](SampledThread* place, hprof_thread_serial serial) { let_go(place, serial); });
  if (!looker_stuck_) mounted_.close();
}

void JvmtiEngine::close() {
  if (looker_stuck_) return;
  shared_->services.release(frames_, depth_);
  shared_->services.release(candidates_, kMostCandidates);
  frames_ = nullptr;
  candidates_ = nullptr;
  depth_ = 0;
}

// --- threads ---

uint64_t JvmtiEngine::cpu_time(uint64_t os_id, jthread thread) const {
  const Services& s = shared_->services;
  uint64_t ns = os_id == 0 ? kUnknownTime : s.clock->thread_cpu(s.host, os_id);
  if (ns != kUnknownTime || thread == nullptr) return ns;
  jlong by_vm = 0;
  return jvmti_->GetThreadCpuTime(thread, &by_vm) == JVMTI_ERROR_NONE ? static_cast<uint64_t>(by_vm)
                                                                      : kUnknownTime;
}

void JvmtiEngine::let_go(SampledThread* place, hprof_thread_serial serial) {
  hprof_cpu_timer* none = nullptr;
  shared_->threads.give_back(shared_->services, place, serial, &none);
}

// What it used before is not ours: a thread of native code has run before it was attached.
void JvmtiEngine::thread_start(hprof_thread* thread) {
  if (!shared_->takes(*thread)) return;
  meet(thread, thread->os_id != 0 ? cpu_time(thread->os_id, nullptr) : kUnknownTime);
}

SampledThread* JvmtiEngine::meet(hprof_thread* thread, uint64_t cpu) {
  bool is_new = false;
  SampledThread* place = shared_->threads.get(shared_->services, thread,
                                              shared_->samples_new.load(std::memory_order_relaxed), &is_new);
  uint64_t none = SampledThreads::kCpuNotSeen;
  // Else the next look finds out.
  if (place != nullptr && cpu != kUnknownTime) place->cpu_seen.compare_exchange_strong(none, cpu);
  return place;
}

void JvmtiEngine::thread_end(hprof_thread* thread) {
  SampledThread* place = SampledThreads::find(thread);
  if (place != nullptr) let_go(place, thread->serial);
}

// A thread that is there before the start.
uint32_t JvmtiEngine::visit_new(void* argument, hprof_thread* thread, void* jthread_ref) {
  auto* self = static_cast<JvmtiEngine*>(argument);
  if (!self->shared_->takes(*thread)) return 1;
  uint64_t cpu = self->cpu_time(thread->os_id, static_cast<jthread>(jthread_ref));
  if (cpu == kUnknownTime && self->lost_threads_ != nullptr) {
    __atomic_fetch_add(self->lost_threads_, 1, __ATOMIC_RELAXED);
  }
  SampledThread* place = self->meet(thread, cpu);
  // One that was stopped for a while has a place already.
  if (place != nullptr && cpu != kUnknownTime) place->cpu_seen.store(cpu, std::memory_order_relaxed);
  return 1;
}

// --- a look ---

void JvmtiEngine::loop(void* argument, void* jni, hprof_agent_thread* thread) {
  auto* self = static_cast<JvmtiEngine*>(argument);
  const Services& s = self->shared_->services;
  self->moments_.seed(s.clock->monotonic(s.host));
  // A look that took longer than an interval does not make up for the ones it missed: weights do that.
  while (s.threads->wait(thread, self->moments_.pause(self->shared_->interval_ns)) != 0)
    self->look(static_cast<JNIEnv*>(jni));
}

uint32_t JvmtiEngine::visit(void* argument, hprof_thread* thread, void* jthread_ref) {
  auto* self = static_cast<JvmtiEngine*>(argument);
  SampledThread* place = SampledThreads::find(thread);
  if (place == nullptr) return 1;
  const uint64_t cpu = self->cpu_time(thread->os_id, static_cast<jthread>(jthread_ref));
  uint64_t seen = SampledThreads::kCpuNotSeen;
  if (cpu == kUnknownTime || place->cpu_seen.compare_exchange_strong(seen, cpu)) return 1;
  if (cpu <= seen) return 1;  // it did not move
  const bool sampled = place->sampled.load(std::memory_order_relaxed) != 0;
  const uint64_t open = sampled ? place->cpu_open.load(std::memory_order_relaxed) + (cpu - seen) : 0;
  place->cpu_seen.store(cpu, std::memory_order_relaxed);
  place->cpu_open.store(open, std::memory_order_relaxed);
  if (!sampled || open < self->shared_->interval_ns || jthread_ref == nullptr) return 1;
  auto ref = static_cast<jthread>(self->jni_->NewLocalRef(static_cast<jobject>(jthread_ref)));
  if (ref == nullptr) {
    self->jni_->ExceptionClear();
    return 1;
  }
  self->candidates_[self->candidate_count_++] = {ref,           ref, place, thread->serial,
                                                 thread->os_id, cpu, open,  false};
  return self->candidate_count_ < kMostCandidates ? 1 : 0;
}

void JvmtiEngine::look(JNIEnv* jni) {
  const Services& s = shared_->services;
  jni_ = jni;
  candidate_count_ = 0;
  if (jni->PushLocalFrame(2 * kMostCandidates + 16) != 0) return jni->ExceptionClear();
  s.threads->each(s.host, jni, this, &JvmtiEngine::visit);
  if (candidate_count_ != 0 && shared_->book.turn.try_lock()) {
    take_stacks(jni);
    settle();
    shared_->book.turn.unlock();
  }
  jni->PopLocalFrame(nullptr);
}

// A thread on a CPU moves its clock while we look. One that does not may have been pushed off its CPU (on a
// machine with one CPU always, by us), which is fine in Java code; in native code it is more likely blocked
// there.
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
    // One stop of the VM for all of them.
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
  uint64_t weight = candidate->open / shared_->interval_ns;
  if (count > 0) {
    shared_->book.add_stack(jni, candidate->serial, reinterpret_cast<const hprof_raw_frame*>(frames),
                            static_cast<uint32_t>(count), weight);
  } else {
    bool none_asked = shared_->depth.load(std::memory_order_relaxed) == 0;
    shared_->book.add_reason(candidate->serial, none_asked ? kDepthZero : kNoJavaFrame, weight);
  }
  candidate->counted = true;
}

// Takes off what was charged; the CPU time of a thread that is never met running is put down as that.
void JvmtiEngine::settle() {
  uint64_t interval = shared_->interval_ns;
  for (uint32_t i = 0; i < candidate_count_; i++) {
    Candidate& candidate = candidates_[i];
    if (!candidate.counted) {
      if (candidate.open / interval < kPatience) continue;
      shared_->book.add_reason(candidate.serial, kNotSeenRunning, candidate.open / interval);
    }
    if (candidate.place->serial.load(std::memory_order_acquire) == candidate.serial)
      candidate.place->cpu_open.store(candidate.open % interval, std::memory_order_relaxed);
  }
}

}  // namespace hprof::samples
