#include "park_sampler.h"

#include <cstring>
#include <initializer_list>

namespace hprof::monitor {

// Frames of the lock's own code, above the program's and in addition to the depth.
static constexpr uint32_t kLockFrames = 16;
static constexpr const char* kLabel = "(java.util.concurrent)";

hprof_status ParkSampler::start(const Services& services, jvmtiEnv* jvmti, ParkedLocks* locks,
                                BlockedStacks* stacks, Holders* holders, Blame* blame,
                                const MonitorEvents* events, uint64_t interval_ns) {
  services_ = services;
  jvmti_ = jvmti;
  locks_ = locks;
  stacks_ = stacks;
  holders_ = holders;
  blame_ = blame;
  events_ = events;
  interval_ns_ = interval_ns;
  const Services& s = services_;
  auto* jni = static_cast<JNIEnv*>(s.jvm->jni(s.host));
  if (jni == nullptr || !locks->open(jni)) {
    s.log->message(s.host, "monitor=all: this VM does not report what a thread is parked on");
    return HPROF_UNSUPPORTED;
  }
  if (!open_) {
    before_ = s.allocate<Parked>(kEntries);
    now_ = s.allocate<Parked>(kEntries);
    open_ = true;
    if (before_ == nullptr || now_ == nullptr || !table_.open(s)) {
      close();
      s.log->message(s.host, "monitor=all: no memory to start");
      return HPROF_NO_MEMORY;
    }
    lost_ = s.log->loss_counter(s.host, "samples of parked threads: their table was full (max-memory=)");
    label_ = s.ids->string(s.host, {kLabel, strlen(kLabel)});
  }
  memset(before_, 0, kEntries * sizeof(Parked));
  memset(now_, 0, kEntries * sizeof(Parked));
  sampler_ = s.threads->start(s.host, "HPROF locks", &ParkSampler::loop, this);
  if (sampler_ != nullptr) return HPROF_OK;
  s.log->message(s.host, "monitor=all: the sampler thread cannot be started");
  return HPROF_FAILED;
}

void ParkSampler::stop() {
  if (sampler_ == nullptr) return;
  if (services_.threads->stop(services_.host, sampler_) != HPROF_OK) {
    stuck_ = true;
    services_.log->message(services_.host, "monitor=all: the sampler thread does not end");
  }
  sampler_ = nullptr;
}

void ParkSampler::close() {
  if (!open_) return;
  table_.close(services_);
  services_.release(before_, kEntries);
  services_.release(now_, kEntries);
  before_ = now_ = nullptr;
  open_ = false;
}

void ParkSampler::reset() {
  table_.clear();
  samples_.store(0, std::memory_order_relaxed);
}

void ParkSampler::loop(void* argument, void* jni, hprof_agent_thread* thread) {
  auto* self = static_cast<ParkSampler*>(argument);
  const Services& s = self->services_;
  self->jni_ = static_cast<JNIEnv*>(jni);
  uint64_t next = s.clock->monotonic(s.host) + self->interval_ns_;
  self->last_sample_ns_ = next - self->interval_ns_;
  self->blame_->start(self->last_sample_ns_);
  for (;;) {
    uint64_t now = s.clock->monotonic(s.host);
    if (s.threads->wait(thread, next > now ? next - now : 1) == 0) return;
    now = s.clock->monotonic(s.host);
    if (now < next) continue;
    // After a late sample missed ones are not repeated: it charges more time.
    next = now > next + self->interval_ns_ ? now + self->interval_ns_ : next + self->interval_ns_;
    self->sample(self->jni_);
  }
}

void ParkSampler::sample(JNIEnv* jni) {
  const Services& s = services_;
  uint64_t now = s.clock->monotonic(s.host);
  charged_ns_ = now > last_sample_ns_ ? now - last_sample_ns_ : 0;
  last_sample_ns_ = now;
  parked_ = 0;
  s.threads->each(s.host, jni, this, &ParkSampler::visit);
  blame_->look_at_monitors(jni, s.clock->monotonic(s.host));
  Parked* old = before_;
  before_ = now_;
  now_ = old;
  memset(now_, 0, kEntries * sizeof(Parked));
  samples_.fetch_add(1, std::memory_order_relaxed);
}

uint32_t ParkSampler::visit(void* argument, hprof_thread* thread, void* jthread_ref) {
  auto* self = static_cast<ParkSampler*>(argument);
  JNIEnv* jni = self->jni_;
  jint state = 0;
  auto ref = static_cast<jthread>(jthread_ref);
  if (ref == nullptr || self->parked_ == kMostParked) return 1;
  if (self->jvmti_->GetThreadState(ref, &state) != JVMTI_ERROR_NONE) return 1;
  if ((state & JVMTI_THREAD_STATE_PARKED) == 0) return 1;
  jobject owner = nullptr;
  jobject lock = self->locks_->find(jni, ref, &owner);
  if (lock == nullptr) return 1;
  self->charge(thread->serial, ref, lock, owner);
  if (owner != nullptr) jni->DeleteLocalRef(owner);
  jni->DeleteLocalRef(lock);
  return 1;
}

void ParkSampler::charge(hprof_thread_serial serial, jthread thread, jobject lock, jobject owner) {
  const Services& s = services_;
  jint hash = 0;
  jvmti_->GetObjectHashCode(lock, &hash);
  jclass of = jni_->GetObjectClass(lock);
  hprof_class_serial monitor = s.ids->class_serial(s.host, jni_, of);
  jni_->DeleteLocalRef(of);
  hprof_trace_serial trace = trace_of(serial, thread);
  // Another stack on the same lock counts as another wait.
  Parked now = {serial, hash, trace};
  uint64_t fresh = was_there(now) ? 0 : 1;
  add_parked(now);
  if (fresh != 0) add_holder(now, monitor, owner);
  if (!table_.add(serial, trace, monitor, fresh, charged_ns_)) count_loss(lost_);
  blame_->charge_parked(jni_, *locks_, lock, owner, monitor, charged_ns_);
  const hprof_thread_serial holder = owner != nullptr ? s.threads->serial_of(s.host, owner) : 0;
  events_->contention({last_sample_ns_, serial, fresh, charged_ns_, trace, monitor, label_,
                       static_cast<uint32_t>(hash), holder, 0, 0},
                      events_->of(serial, jni_, thread));
}

void ParkSampler::add_holder(const Parked& now, hprof_class_serial monitor, jobject owner) {
  if (owner == nullptr) return;
  const hprof_thread_serial serial = services_.threads->serial_of(services_.host, owner);
  if (serial != 0) holders_->add(now.trace, monitor, now.thread, serial);
}

static uint32_t entry_of(hprof_thread_serial serial) { return serial * 0x9e3779b1u >> 19; }

bool ParkSampler::was_there(const Parked& now) const {
  for (uint32_t at = entry_of(now.thread);; at++) {
    const Parked& entry = before_[at % kEntries];
    if (entry.thread == 0) return false;
    if (entry.thread == now.thread) return entry.lock == now.lock && entry.trace == now.trace;
  }
}

void ParkSampler::add_parked(const Parked& now) {
  uint32_t at = entry_of(now.thread);
  while (now_[at % kEntries].thread != 0) at++;
  now_[at % kEntries] = now;
  parked_++;
}

// True: a frame between the program's call and the parking. All of these are left out but the outermost,
// lock() or the like.
static bool is_lock_code(const Services& s, hprof_frame_id frame) {
  const hprof_text name = class_name_of(s.ids, s.host, frame);
  for (const char* prefix :
       {"java.util.concurrent.locks.", "java.util.concurrent.Semaphore", "jdk.internal.misc.", "sun.misc."}) {
    if (begins_with(name, prefix)) return true;
  }
  return false;
}

// The method book names it, since it is another thread's stack.
hprof_trace_serial ParkSampler::trace_of(hprof_thread_serial serial, jthread thread) {
  const Services& s = services_;
  jvmtiFrameInfo frames[BlockedStacks::kMostFrames + kLockFrames];
  hprof_frame_id ids[BlockedStacks::kMostFrames + kLockFrames + Labels::kMostFrames];
  const hprof_string_id set = stacks_->labels().of(serial, jni_, thread);
  uint32_t depth = stacks_->depth();
  jint count = 0;
  if (depth == 0) return stacks_->stand_in(serial, "depth_zero", set);
  if (jvmti_->GetStackTrace(thread, 0, static_cast<jint>(depth + kLockFrames), frames, &count) !=
          JVMTI_ERROR_NONE ||
      count <= 0) {
    return stacks_->stand_in(serial, "no_java_frame", set);
  }
  for (jint i = 0; i < count; i++) {
    hprof_raw_frame raw = {frames[i].method, frames[i].location};
    ids[i] = s.ids->frame(s.host, jni_, &raw, 0);
  }
  uint32_t end = static_cast<uint32_t>(count), first = 0;
  while (first + 1 < end && is_lock_code(s, ids[first + 1])) first++;
  uint32_t kept = end - first < depth ? end - first : depth;
  return stacks_->labels().trace(stacks_->shown(serial), ids + first, kept, trace_flags(kept, depth), set);
}

}  // namespace hprof::monitor
