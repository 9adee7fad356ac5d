#include "signal_engine.h"

#include <hprof/cpp/note.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/cpp/vm_flags.hpp>

#include "due_times.h"
#include "mounted_threads.h"

namespace hprof::samples {

// The longest time until a sample's methods are named. Shorter: fewer classes are gone; longer: fewer
// wake-ups.
static constexpr uint64_t kDrainEveryNs = 20'000'000;
// Detects that no signals come. A thread is overdue kOverdueNs of CPU time after its sample was due (kernels
// check timers at their ticks, every 1 to 10 ms). A round is silent if no signal came while overdue threads
// used kOverdueNs. After kSilentRounds the engine sends itself a signal; if that comes, the threads may be in
// long system calls, and it waits for more rounds.
static constexpr uint64_t kOverdueNs = 50'000'000;
static constexpr uint32_t kSilentRounds = 2, kMostSilentRounds = 40;
// Wake-ups of the drain thread from one check to the next.
static constexpr uint32_t kCheckWakeUps = 5;
// Checks from one search for threads that block the signal to the next.
static constexpr uint32_t kSearchChecks = 10;
// CPU time for which a thread gets no timer of moments after a signal has ended one of its system calls.
static constexpr uint64_t kRestNs = 1'000'000'000;
// The shortest time from one signal of a thread to the next: 4,000 signals cost about 1 % of a second.
static constexpr uint64_t kLeastWaitNs = 250'000;
// How many samples are counted before another consumer gets the book.
static constexpr uint32_t kSamplesPerLock = 64;

// How AsyncGetCallTrace and JVMTI mark a native method.
static constexpr int32_t kAsyncNative = -3;
static constexpr int64_t kNativeLocation = -1;

static constexpr uint64_t kUnknownTime = UINT64_MAX;

// Sends itself a signal. Kernels and sandboxes refuse timers, and emulators change the siginfo words by which
// the agent's signals are recognised.
const char* SignalEngine::try_signals() {
  constexpr uint64_t kPauseNs = 1'000'000;
  const Services& s = shared_->services;
  trial_seen_.store(0, std::memory_order_relaxed);
  hprof_status refusal = HPROF_OK;
  hprof_cpu_timer* timer = s.sampling->start(s.host, 0, 0, this, &refusal);
  if (timer == nullptr) return "the system refuses CPU timers (timer_create)";
  // The signal comes at once, under an emulator a little later.
  for (int i = 0; i < 20 && trial_seen_.load(std::memory_order_relaxed) == 0; i++)
    s.threads->pause(s.host, kPauseNs);
  s.sampling->stop(s.host, timer);
  const bool seen = trial_seen_.load(std::memory_order_relaxed) != 0;
  return seen ? nullptr : "signals of the agent's own do not come, or are not recognised (an emulator?)";
}

hprof_status SignalEngine::start(const char** why) {
  const Services& s = shared_->services;
  if ((*why = walker_.start()) != nullptr) return walker_.has_function() ? HPROF_FAILED : HPROF_UNSUPPORTED;
  if (walker_.has_own()) shared_->book.events.add_code();
  lost_samples_ = s.log->loss_counter(s.host, "CPU samples: the sample buffer was full (interval=)");
  lost_moments_ = s.log->loss_counter(
      s.host, "timers between kernel ticks: the system refused a second timer for a thread (ulimit -i)");
  lost_threads_ = s.log->loss_counter(s.host, "sampled threads: no memory for them (max-memory=)");
  if (!open_buffers()) {
    *why = "no memory for the sample buffer";
    return HPROF_NO_MEMORY;
  }
  if (s.sampling->install(s.host, &SignalEngine::on_tick, this) != HPROF_OK) {
    *why = "the signal handler cannot be installed";
    return HPROF_FAILED;
  }
  if ((*why = try_signals()) != nullptr) {
    s.sampling->uninstall(s.host);
    return HPROF_FAILED;
  }
  why_jvmti_.store(nullptr, std::memory_order_relaxed);
  why_lost_.store(nullptr, std::memory_order_relaxed);
  const bool has_moments = HPROF_HAS(s.sampling, hprof_sampling_service, interrupted_call);
  const uint64_t tick = has_moments ? s.sampling->tick_length(s.host) : 0;
  lead_ns_ = tick + tick / 8;
  other_started_ = false;
  wake_ups_ = silent_rounds_ = checks_ = 0;
  process_cpu_ = searched_cpu_ = s.clock->process_cpu(s.host);
  overdue_ = 0;
  auto* jvmti = static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
  has_requests_ =
      jvmti != nullptr && find_vm_function(jvmti, "com.sun.hotspot.functions.RequestStackTrace") != nullptr;
  hprof_agent_thread* drainer =
      s.threads->start(s.host, "HPROF cpu samples", &SignalEngine::drain_loop, this);
  if (drainer == nullptr) {
    s.sampling->uninstall(s.host);
    *why = "the drain thread cannot be started";
    return HPROF_FAILED;
  }
  drainer_.store(drainer, std::memory_order_release);
  running_.store(1, std::memory_order_seq_cst);
  s.threads->each(s.host, s.jvm->jni(s.host), this, &SignalEngine::visit_thread);
  return HPROF_OK;
}

bool SignalEngine::open_buffers() {
  const Services& s = shared_->services;
  uint32_t depth = shared_->book.depth();
  if (queue_.is_open() && queue_.depth() >= depth) return true;
  close_queue();
  raw_ = s.allocate<hprof_raw_frame>(depth + 1);
  if (raw_ != nullptr && queue_.open(s, depth) == HPROF_OK) return true;
  s.release(raw_, depth + 1);
  raw_ = nullptr;
  return false;
}

void SignalEngine::stop() {
  if (running_.exchange(0, std::memory_order_seq_cst) == 0) return;
  // No more timers are started: apply() checks running_ while it holds the thread's lock.
  shared_->threads.each([&](SampledThread* thread, hprof_thread_serial serial) { let_go(thread, serial); });
  stop_drainer();
  other_->stop();
}

void SignalEngine::stop_drainer() {
  const Services& s = shared_->services;
  s.sampling->uninstall(s.host);
  hprof_agent_thread* drainer = drainer_.exchange(nullptr, std::memory_order_acq_rel);
  if (s.threads->stop(s.host, drainer) != HPROF_OK) {
    drainer_stuck_ = true;
    s.log->message(s.host, "cpu=samples: the drain thread does not end; the last samples are not counted");
  } else if (shared_->book.lock.try_lock()) {
    drain_all(s.jvm->jni(s.host));
    shared_->book.lock.unlock();
  }
}

void SignalEngine::close() {
  if (is_stuck()) return;
  close_queue();
  walker_.close();
}

void SignalEngine::close_queue() {
  const Services& s = shared_->services;
  if (queue_.is_open()) s.release(raw_, queue_.depth() + 1);
  raw_ = nullptr;
  queue_.close(s);
}

uint64_t SignalEngine::before_due(uint64_t wait) const {
  return wait > lead_ns_ + kLeastWaitNs ? wait - lead_ns_ : lead_ns_ == 0 ? wait : kLeastWaitNs;
}

bool SignalEngine::wants_timer(const SampledThread& thread) const {
  return running_.load(std::memory_order_seq_cst) != 0 &&
         thread.sampled.load(std::memory_order_relaxed) != 0 &&
         thread.by_jvmti.load(std::memory_order_relaxed) == 0;
}

// Timers are made and stopped outside of the lock: both take memory and system calls.
void SignalEngine::apply(SampledThread* thread, hprof_thread_serial serial) {
  const Services& s = shared_->services;
  hprof_cpu_timer* timer = nullptr;
  uint64_t first = shared_->interval_ns, number = 0, moments = 0;
  if (thread->by_jvmti.load(std::memory_order_relaxed) != 0) return;
  const uint64_t cpu = cpu_time(*thread), os_id = thread->os_id.load(std::memory_order_relaxed);
  if (wants_timer(*thread) && thread->timer.load(std::memory_order_relaxed) == nullptr) {
    if (os_id == 0) return hand_over(thread, serial, cpu, "the system's ids of some threads are not known");
    if (const char* why = why_lost_.load(std::memory_order_relaxed))
      return hand_over(thread, serial, cpu, why);
    if (cpu != kUnknownTime) first = before_due(begin_due(thread, cpu, shared_->interval_ns));
    hprof_status refusal = HPROF_OK;
    timer = s.sampling->start(s.host, os_id, first, SampledThreads::handle(thread), &refusal);
    if (timer == nullptr && refusal == HPROF_FAILED) return;  // the thread has ended
    if (timer == nullptr)
      return hand_over(thread, serial, cpu, "the system refuses CPU timers for some threads (ulimit -i)");
    number = s.sampling->timer_number(s.host, timer);
    const bool lacks_moments = lead_ns_ != 0 && (moments = s.sampling->add_moments(s.host, timer)) == 0;
    // A thread that has ended meanwhile has no clock.
    if (lacks_moments && cpu_time(*thread) != kUnknownTime) count_loss(lost_moments_);
  } else if (!wants_timer(*thread)) {
    take_rest(thread, serial, cpu);
  }
  {
    LockGuard guard(thread->lock, s);
    const bool is_its = thread->serial.load(std::memory_order_relaxed) == serial;
    const bool has_timer = thread->timer.load(std::memory_order_relaxed) != nullptr;
    if (is_its && wants_timer(*thread) != has_timer) {
      thread->timer_number.store(number, std::memory_order_relaxed);
      thread->moments_number.store(moments, std::memory_order_relaxed);
      timer = thread->timer.exchange(timer, std::memory_order_seq_cst);
    }
  }
  if (timer != nullptr) s.sampling->stop(s.host, timer);
  const char* why = why_lost_.load(std::memory_order_seq_cst);
  if (why != nullptr && wants_timer(*thread)) hand_over(thread, serial, cpu, why);
}

// Takes the samples that are due but had no signal yet: kernels check timers at their ticks only.
void SignalEngine::take_rest(SampledThread* thread, hprof_thread_serial serial, uint64_t cpu) {
  uint64_t wait = 0;
  uint32_t ticks = 0;
  {
    LockGuard guard(thread->lock, shared_->services);
    if (thread->serial.load(std::memory_order_relaxed) != serial) return;
    if (cpu != kUnknownTime) ticks = take_due(thread, cpu, &wait);
    thread->due.store(SampledThreads::kNeverDue, std::memory_order_relaxed);
  }
  if (ticks != 0) unseen(this, serial, ticks);
}

void SignalEngine::hand_over(SampledThread* thread, hprof_thread_serial serial, uint64_t cpu,
                             const char* why) {
  const Services& s = shared_->services;
  if (!other_->take_over(thread, serial, cpu)) return;
  why_jvmti_.store(why, std::memory_order_relaxed);
  hprof_cpu_timer* timer = nullptr;
  {
    LockGuard guard(thread->lock, s);
    if (thread->serial.load(std::memory_order_relaxed) == serial)
      timer = thread->timer.exchange(nullptr, std::memory_order_relaxed);
  }
  if (timer != nullptr) s.sampling->stop(s.host, timer);
}

// Called by the drain thread, to spare threads that are just starting.
void SignalEngine::start_other() {
  const Services& s = shared_->services;
  const char* why = nullptr;
  if (other_started_) return;
  other_started_ = true;
  const bool started = other_->start_for(JvmtiEngine::Whose::kHandedOver, &why) == HPROF_OK;
  if (started && printed_why_ == why_jvmti()) return;
  printed_why_ = why_jvmti();
  TextLine<256> line;
  line.add("cpu=samples: ").add(why_jvmti());
  line.add(started ? "; sampling with JVMTI (sampler=jvmti) instead" : "; no samples: ");
  if (!started) line.add(why);
  s.log->message(s.host, line.c_str());
}

void SignalEngine::watch() {
  const Services& s = shared_->services;
  walker_.judge();
  if (why_jvmti() != nullptr) start_other();
  if (++wake_ups_ < kCheckWakeUps || why_lost_.load(std::memory_order_relaxed) != nullptr) return;
  wake_ups_ = 0;
  const uint64_t cpu = s.clock->process_cpu(s.host);
  // Reads the clocks of all threads only if the process has used enough CPU time.
  if (++checks_ >= kSearchChecks && cpu - searched_cpu_ >= kOverdueNs) {
    checks_ = 0;
    searched_cpu_ = cpu;
    hand_over_blocked();
  }
  if (signals_seen_.exchange(0, std::memory_order_relaxed) != 0) {
    process_cpu_ = cpu;
    silent_rounds_ = 0;
    overdue_ = 0;
  }
  if (cpu - process_cpu_ < kOverdueNs) return;
  const uint64_t overdue = this->overdue();
  process_cpu_ = cpu;
  if (overdue < overdue_ + kOverdueNs) return;
  overdue_ = overdue;
  if (++silent_rounds_ < kSilentRounds) return;
  const bool is_taken = try_signals() != nullptr;
  if (is_taken) hand_over_all("another handler has taken SIGPROF");
  if (!is_taken && silent_rounds_ == kMostSilentRounds)
    hand_over_all("signals of CPU timers do not reach the threads that run");
}

// The CPU time that the thread has used since its last sample was due; 0: it is not overdue.
uint64_t SignalEngine::overdue(const SampledThread& thread, uint64_t* cpu) const {
  if (thread.timer.load(std::memory_order_relaxed) == nullptr) return 0;
  const uint64_t due = thread.due.load(std::memory_order_relaxed);
  *cpu = cpu_time(thread);
  const bool is_known = *cpu != kUnknownTime && due != SampledThreads::kNeverDue;
  return is_known && *cpu > due + kOverdueNs ? *cpu - due : 0;
}

uint64_t SignalEngine::overdue() {
  uint64_t sum = 0, cpu = 0;
  shared_->threads.each([&](SampledThread* thread, hprof_thread_serial) { sum += overdue(*thread, &cpu); });
  return sum;
}

void SignalEngine::hand_over_blocked() {
  const Services& s = shared_->services;
  if (!HPROF_HAS(s.sampling, hprof_sampling_service, is_blocked)) return;
  shared_->threads.each([&](SampledThread* thread, hprof_thread_serial serial) {
    uint64_t cpu = 0;
    if (overdue(*thread, &cpu) == 0 ||
        s.sampling->is_blocked(s.host, thread->os_id.load(std::memory_order_relaxed)) == 0)
      return;
    take_rest(thread, serial, cpu);
    hand_over(thread, serial, cpu, "some threads block SIGPROF");
  });
}

// Threads whose timers are being made right now hand themselves over.
void SignalEngine::hand_over_all(const char* why) {
  why_lost_.store(why, std::memory_order_seq_cst);
  shared_->threads.each([&](SampledThread* thread, hprof_thread_serial serial) {
    if (thread->timer.load(std::memory_order_seq_cst) == nullptr) return;
    const uint64_t cpu = cpu_time(*thread);
    take_rest(thread, serial, cpu);
    hand_over(thread, serial, cpu, why);
  });
  start_other();
}

uint64_t SignalEngine::cpu_time(const SampledThread& thread) const {
  const Services& s = shared_->services;
  const uint64_t os_id = thread.os_id.load(std::memory_order_relaxed);
  return os_id == 0 ? kUnknownTime : s.clock->thread_cpu(s.host, os_id);
}

void SignalEngine::let_go(SampledThread* thread, hprof_thread_serial serial) {
  const Services& s = shared_->services;
  hprof_cpu_timer* timer = nullptr;
  if (thread->by_jvmti.load(std::memory_order_relaxed) != 0)
    return other_->let_go(thread, serial, thread->os_id.load(std::memory_order_relaxed));
  take_rest(thread, serial, cpu_time(*thread));
  if (shared_->threads.give_back(s, thread, serial, &timer) && timer != nullptr)
    s.sampling->stop(s.host, timer);
}

void SignalEngine::thread_start(JNIEnv*, hprof_thread* thread) {
  if (running_.load(std::memory_order_seq_cst) == 0 || !shared_->takes(*thread)) return;
  bool is_new = false;
  SampledThread* entry = shared_->threads.get(shared_->services, thread,
                                              shared_->samples_new.load(std::memory_order_relaxed), &is_new);
  if (entry == nullptr) count_loss(lost_threads_);
  if (entry == nullptr || !is_new) return;
  apply(entry, thread->serial);
  // stop() may have run meanwhile, without this thread.
  if (running_.load(std::memory_order_seq_cst) == 0) let_go(entry, thread->serial);
}

uint32_t SignalEngine::visit_thread(void* argument, hprof_thread* thread, void*) {
  static_cast<SignalEngine*>(argument)->thread_start(nullptr, thread);
  return 1;
}

void SignalEngine::thread_end(hprof_thread* thread) {
  SampledThread* entry = SampledThreads::find(thread);
  if (entry != nullptr) let_go(entry, thread->serial);
}

// The signal handler: no lock, no allocation.

void SignalEngine::on_tick(void* argument, void* timer_argument, void* ucontext, uint32_t ticks) {
  auto* self = static_cast<SignalEngine*>(argument);
  if (timer_argument == argument) return self->trial_seen_.store(1, std::memory_order_relaxed);
  SampledThread* thread = SampledThreads::from_handle(timer_argument);
  if (thread != nullptr) self->sample(thread, ucontext, ticks);
}

Sample* SignalEngine::claim(uint32_t ticks) {
  Sample* slot = queue_.claim();
  if (slot == nullptr) count_loss(lost_samples_, ticks);
  return slot;
}

void SignalEngine::publish(Sample* sample) {
  const Services& s = shared_->services;
  queue_.publish(sample);
  if (queue_.waiting() * 2 >= queue_.slots() && wake_sent_.exchange(1, std::memory_order_relaxed) == 0) {
    hprof_agent_thread* drainer = drainer_.load(std::memory_order_acquire);
    if (drainer != nullptr) s.threads->wake(drainer);
  }
}

// Returns how many samples the thread is due for, at most what its elapsed time allows: one for each interval
// and two for the intervals at its ends.
uint32_t SignalEngine::take_due(SampledThread* thread, uint64_t cpu, uint64_t* wait) const {
  const Services& s = shared_->services;
  const uint64_t most = most_used(thread, s.clock->monotonic(s.host)) / shared_->interval_ns + 2;
  const uint32_t ticks = samples::take_due(thread, cpu, shared_->interval_ns, wait);
  return ticks < most ? ticks : static_cast<uint32_t>(most);
}

// Returns how many samples the thread's CPU time is worth, and sets its timers to the next due moment.
// `ticks`: the count that the timer reports.
uint32_t SignalEngine::due(SampledThread* thread, const void* ucontext, uint32_t ticks) {
  const uint64_t cpu = cpu_time(*thread);
  if (cpu == kUnknownTime) return ticks;
  uint64_t wait = 0;
  ticks = take_due(thread, cpu, &wait);
  if (wait != 0) set_timers(thread, ucontext, cpu, wait);
  return ticks;
}

// CPU timers expire at the kernel's ticks only, so the CPU timer is set to the tick before the due moment, at
// which the timer of moments is set to the moment itself. That one counts elapsed time. If it finds the
// thread in a system call, the sample is taken at the first tick after its moment instead.
void SignalEngine::set_timers(SampledThread* thread, const void* ucontext, uint64_t cpu, uint64_t wait) {
  const Services& s = shared_->services;
  const uint64_t number = thread->timer_number.load(std::memory_order_relaxed);
  const uint64_t moments = thread->moments_number.load(std::memory_order_relaxed);
  const uint32_t call = lead_ns_ == 0 ? HPROF_CALL_NONE : s.sampling->interrupted_call(s.host, ucontext);
  if (call == HPROF_CALL_ENDED) {
    calls_ended_.fetch_add(1, std::memory_order_relaxed);
    thread->moments_from.store(cpu + kRestNs, std::memory_order_relaxed);
  }
  const bool is_exact =
      moments != 0 && call == HPROF_CALL_NONE && cpu >= thread->moments_from.load(std::memory_order_relaxed);
  if (is_exact && wait <= lead_ns_)
    s.sampling->signal_after(s.host, moments, wait > kLeastWaitNs ? wait : kLeastWaitNs);
  else if (number != 0)
    s.sampling->set_interval(s.host, number, is_exact ? before_due(wait) : wait);
}

void SignalEngine::sample(SampledThread* thread, void* ucontext, uint32_t ticks) {
  const Services& s = shared_->services;
  signals_seen_.store(1, std::memory_order_relaxed);
  if (thread->by_jvmti.load(std::memory_order_relaxed) != 0 || (ticks = due(thread, ucontext, ticks)) == 0)
    return;
  Sample* slot = claim(ticks);
  if (slot == nullptr) return;
  slot->ticks = ticks;
  slot->at_ns = shared_->book.events.now();
  slot->thread = thread->serial.load(std::memory_order_relaxed);
  void* jni = s.jvm->jni(s.host);
  slot->context = shared_->book.events.running(slot->thread, jni);
  slot->mounted = shared_->book.events.mounted(jni);
  slot->top = nullptr;
  slot->found = Found::kNone;
  uint32_t depth = shared_->depth.load(std::memory_order_relaxed);
  if (depth > queue_.depth()) depth = queue_.depth();
  if (depth == 0 || jni == nullptr) {
    slot->frame_count = -static_cast<int32_t>(depth == 0 ? kDepthZero : kNotJavaThread);
  } else {
    walker_.walk(slot, jni, depth, ucontext);
  }
  publish(slot);
}

// Called on any thread: the queue does not require producers to be signal handlers.
void SignalEngine::unseen(void* self, hprof_thread_serial serial, uint32_t ticks) {
  auto* engine = static_cast<SignalEngine*>(self);
  Sample* slot = engine->claim(ticks);
  if (slot == nullptr) return;
  slot->ticks = ticks;
  slot->at_ns = engine->shared_->book.events.now();
  slot->thread = serial;
  slot->context = {};
  slot->mounted = 0;
  slot->top = nullptr;
  slot->found = Found::kNone;
  slot->frame_count = -static_cast<int32_t>(kNotSeenRunning);
  engine->publish(slot);
}

void SignalEngine::drain_loop(void* argument, void* jni, hprof_agent_thread* thread) {
  auto* self = static_cast<SignalEngine*>(argument);
  const Services& s = self->shared_->services;
  // Makes the method ids of loaded classes: AsyncGetCallTrace cannot name a method without one.
  hprof_raw_frame none = {};
  s.ids->frame(s.host, jni, &none, 0);
  while (s.threads->wait(thread, kDrainEveryNs) != 0) {
    self->wake_sent_.store(0, std::memory_order_relaxed);
    self->watch();
    self->shared_->vm_threads.poll(s);
    uint32_t counted = kSamplesPerLock;
    while (counted == kSamplesPerLock && self->shared_->book.lock.try_lock()) {
      counted = self->drain(jni);
      self->shared_->book.lock.unlock();
    }
  }
}

uint32_t SignalEngine::drain(void* jni) {
  uint32_t counted = 0;
  for (Sample* sample; counted < kSamplesPerLock && (sample = queue_.front()) != nullptr; counted++) {
    count(*sample, jni);
    queue_.pop();
  }
  return counted;
}

void SignalEngine::drain_all(void* jni) {
  for (uint64_t left = queue_.slots(); left != 0;) {
    uint32_t counted = drain(jni);
    if (counted == 0) return;
    left -= counted < left ? counted : left;
  }
}

void SignalEngine::settle() {
  if (running_.load(std::memory_order_relaxed) != 0)
    drain_all(shared_->services.jvm->jni(shared_->services.host));
  other_->settle();
}

void SignalEngine::forget() {
  settle();
  calls_ended_.store(0, std::memory_order_relaxed);
}

hprof_status SignalEngine::write_note(uint64_t) const {
  const Services& s = shared_->services;
  const uint64_t ended = calls_ended_.load(std::memory_order_relaxed);
  hprof_status status = HPROF_OK;
  if (ended != 0) {
    Note line;
    line.add("cpu=samples: ").add(ended).add(ended == 1 ? " wait" : " waits");
    status = hprof::write_note(
        s, line.add(" of the program in a system call returned early (EINTR): a sample's signal interrupted "
                    "it; the JDK then waits again"));
  }
  if (status == HPROF_OK && walker_.has_given_up())
    status = hprof::write_note(
        s, Note().add("cpu=samples: the agent's own walk was given up: it differed from AsyncGetCallTrace"));
  if (status == HPROF_OK && shows_outside_ && !walker_.has_own())
    status = hprof::write_note(
        s, Note().add(
               "cpu=samples: no frames of native code: the agent does not walk stacks itself on this VM"));
  if (status == HPROF_OK && has_requests_)
    status = hprof::write_note(s, Note().add("cpu=samples: this VM walks stacks for profilers "
                                             "(RequestStackTrace), which the agent does not use"));
  return status;
}

// True: its stack is of the own walk.
static bool is_own(const Sample& sample) {
  return sample.found == Found::kWhole || sample.found == Found::kCut || sample.found == Found::kHole;
}

void SignalEngine::count(const Sample& sample, void* jni) {
  SampleBook& book = shared_->book;
  uint32_t count = 0;
  const bool is_judged = sample.frame_count > 0 || is_lost(reason_of(sample.frame_count));
  if (kHasWalk && is_own(sample)) book.add_kind(sample.kind, sample.ticks);
  // The bytecode index is not known: the method's first line stands for its entry code.
  if (sample.top != nullptr) raw_[count++] = {sample.top, 0};
  for (int32_t i = 0; i < sample.frame_count && static_cast<uint32_t>(i) < queue_.depth(); i++) {
    const hprof_async_frame& frame = sample.frames[i];
    int64_t location = frame.index == kAsyncNative ? kNativeLocation : frame.index < 0 ? 0 : frame.index;
    raw_[count++] = {frame.method, location};
  }
  const uint32_t kind = kHasWalk && is_own(sample) ? sample.kind : uint32_t{HPROF_FRAME_UNKNOWN};
  const SampleHead head = {sample.thread,
                           sample.at_ns,
                           HPROF_STATE_RUNNABLE,
                           sample.context,
                           kind,
                           book.virtual_threads.of(static_cast<JNIEnv*>(jni), sample.mounted, sample.thread)};
  if (count == 0) {
    if (is_judged) book.add_found(sample.found, sample.ticks);
    return book.add_reason(head, reason_of(sample.frame_count), sample.ticks);
  }
  uint32_t depth = shared_->depth.load(std::memory_order_relaxed);
  if (count > depth && depth != 0) count = depth;
  // A carrier that is mounting a virtual thread passes the frames in the heap, and lacks none itself.
  const bool has_hole = book.add_stack(jni, head, raw_, count, sample.ticks, sample.found == Found::kHole,
                                       outside_frame(sample));
  Found found = sample.found;
  if (has_hole || found == Found::kHole) found = has_hole ? Found::kHole : Found::kWhole;
  if (is_judged) book.add_found(found, sample.ticks);
}

// On top of stacks by the own walk only: AsyncGetCallTrace may have left out the frames between.
hprof_frame_id SignalEngine::outside_frame(const Sample& sample) const {
  if (!kHasWalk || !shows_outside_ || !is_own(sample) || sample.outside == 0) return 0;
  hprof_native_name name;
  walker_.name_outside(sample, &name);
  return shared_->book.outside_frame(name, sample.in_call != 0);
}

}  // namespace hprof::samples
