// Samples by CPU-time signals.
#include "plugins/cpu_samples/signal_engine.h"

namespace hprof::samples {

// How long a sample waits at most before it is named. Shorter: fewer classes are gone by then; longer: fewer
// wake-ups.
static constexpr uint64_t kDrainEveryNs = 20'000'000;
// Samples counted before another consumer gets a chance at the book.
static constexpr uint32_t kTurnSamples = 64;

// AsyncGetCallTrace's mark of a native method, JVMTI's mark of one, and what stands for "no bytecode index
// known".
static constexpr int32_t kAsyncNative = -3;
static constexpr int64_t kNativeLocation = -1;
static constexpr int64_t kNoLocation = -2;

static void add_loss(uint64_t* counter, uint64_t n) {
  if (counter != nullptr) __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

const char* SignalEngine::missing(const Services& services) {
  if (services.sampling == nullptr) return "this platform has no CPU-time signals";
  if (services.jvm == nullptr || services.jvm->symbol(services.host, "AsyncGetCallTrace") == nullptr) {
    return "this VM has no AsyncGetCallTrace";
  }
  return nullptr;
}

hprof_status SignalEngine::start(const char** why) {
  const Services& s = shared_->services;
  if ((*why = missing(s)) != nullptr) return HPROF_UNSUPPORTED;
  walk_ = reinterpret_cast<AsyncGetCallTrace>(s.jvm->symbol(s.host, "AsyncGetCallTrace"));
  lost_samples_ = s.log->loss_counter(s.host, "CPU samples: the sample buffer was full");
  lost_threads_ = s.log->loss_counter(s.host, "threads without CPU samples: no CPU timer to be had");
  uint32_t depth = shared_->book.depth();
  if (queue_.is_open() && queue_.depth() < depth) close();
  if (!queue_.is_open()) {
    raw_ = s.allocate<hprof_raw_frame>(depth);
    if (raw_ == nullptr || queue_.open(s, depth) != HPROF_OK) {
      s.release(raw_, depth);
      raw_ = nullptr;
      *why = "no memory for the sample buffer";
      return HPROF_NO_MEMORY;
    }
  }
  if (s.sampling->install(s.host, &SignalEngine::on_tick, this) != HPROF_OK) {
    *why = "the signal handler cannot be installed";
    return HPROF_FAILED;
  }
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

void SignalEngine::stop() {
  if (running_.exchange(0, std::memory_order_seq_cst) == 0) return;
  const Services& s = shared_->services;
  // thread_start looks at running_ with the state locked: once each() has been there, no timer starts any
  // more.
  shared_->threads.each([&](ThreadState* state) {
    if (state->timer != nullptr) s.sampling->stop(s.host, state->timer);
    state->timer = nullptr;
    ThreadStates::free_state(state);
  });
  s.sampling->uninstall(s.host);
  hprof_agent_thread* drainer = drainer_.exchange(nullptr, std::memory_order_acq_rel);
  if (s.threads->stop(s.host, drainer) != HPROF_OK) {
    drainer_stuck_ = true;
    s.log->message(s.host, "cpu=samples: the drain thread does not end; the last samples are not counted");
  } else if (shared_->book.turn.try_lock()) {
    drain_all(s.jvm->jni(s.host));
    shared_->book.turn.unlock();
  }
}

void SignalEngine::close() {
  if (drainer_stuck_) return;
  const Services& s = shared_->services;
  if (queue_.is_open()) s.release(raw_, queue_.depth());
  raw_ = nullptr;
  queue_.close(s);
}

// --- threads ---

void SignalEngine::apply(ThreadState* state) {
  const Services& s = shared_->services;
  bool wanted =
      running_.load(std::memory_order_relaxed) != 0 && state->sampled.load(std::memory_order_relaxed) != 0;
  if (wanted && state->timer == nullptr && state->os_id != 0) {
    state->timer = s.sampling->start(s.host, state->os_id, shared_->interval_ns, ThreadStates::handle(state));
    if (state->timer == nullptr) add_loss(lost_threads_, 1);
  } else if (!wanted && state->timer != nullptr) {
    s.sampling->stop(s.host, state->timer);
    state->timer = nullptr;
  }
}

void SignalEngine::thread_start(const hprof_thread* thread) {
  if (running_.load(std::memory_order_seq_cst) == 0 || !is_sampled_thread(thread)) return;
  bool done =
      shared_->threads.with_new(shared_->services, thread->serial, [&](ThreadState* state, bool is_new) {
        if (!is_new) return;
        if (running_.load(std::memory_order_seq_cst) == 0) return ThreadStates::free_state(state);
        state->os_id = thread->os_id;
        state->sampled.store(shared_->sampled_default.load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
        apply(state);
      });
  if (!done || thread->os_id == 0) add_loss(lost_threads_, 1);
}

uint32_t SignalEngine::visit_thread(void* argument, hprof_thread* thread, void*) {
  static_cast<SignalEngine*>(argument)->thread_start(thread);
  return 1;
}

void SignalEngine::thread_end(const hprof_thread* thread) {
  if (running_.load(std::memory_order_relaxed) == 0 || !is_sampled_thread(thread)) return;
  shared_->threads.with(thread->serial, [&](ThreadState* state) {
    if (state->timer != nullptr) shared_->services.sampling->stop(shared_->services.host, state->timer);
    state->timer = nullptr;
    ThreadStates::free_state(state);
  });
}

// --- the signal handler: no lock, no allocation ---

namespace {
struct Walk {
  void (*walk)(AsyncTrace* trace, int32_t depth, void* ucontext);
  AsyncTrace trace;
  int32_t depth;
  void* ucontext;
};
}  // namespace

static void walk_stack(void* argument) {
  auto* w = static_cast<Walk*>(argument);
  w->walk(&w->trace, w->depth, w->ucontext);
}

void SignalEngine::on_tick(void* argument, void* timer_argument, void* ucontext, uint32_t ticks) {
  ThreadState* state = ThreadStates::from_handle(timer_argument);
  if (state != nullptr) static_cast<SignalEngine*>(argument)->sample(state, ucontext, ticks);
}

void SignalEngine::sample(ThreadState* state, void* ucontext, uint32_t ticks) {
  const Services& s = shared_->services;
  Sample* slot = queue_.claim();
  if (slot == nullptr) return add_loss(lost_samples_, ticks);
  slot->ticks = ticks;
  slot->thread = state->serial.load(std::memory_order_relaxed);
  uint32_t depth = shared_->depth.load(std::memory_order_relaxed);
  if (depth > queue_.depth()) depth = queue_.depth();
  void* jni = s.jvm->jni(s.host);
  if (depth == 0 || jni == nullptr) {
    slot->frame_count = -static_cast<int32_t>(depth == 0 ? kDepthZero : kNotJavaThread);
  } else {
    Walk walk = {walk_, {jni, 0, slot->frames}, static_cast<int32_t>(depth), ucontext};
    bool returned = s.sampling->guarded(s.host, &walk_stack, &walk) != 0;
    slot->frame_count = returned ? walk.trace.frame_count : -static_cast<int32_t>(kWalkFault);
  }
  queue_.publish(slot);
  if (queue_.waiting() * 2 >= queue_.slots() && wake_sent_.exchange(1, std::memory_order_relaxed) == 0) {
    hprof_agent_thread* drainer = drainer_.load(std::memory_order_acquire);
    if (drainer != nullptr) s.threads->wake(drainer);
  }
}

// --- the drain thread ---

void SignalEngine::drain_loop(void* argument, void* jni, hprof_agent_thread* thread) {
  auto* self = static_cast<SignalEngine*>(argument);
  const Services& s = self->shared_->services;
  while (s.threads->wait(thread, kDrainEveryNs) != 0) {
    self->wake_sent_.store(0, std::memory_order_relaxed);
    uint32_t counted = kTurnSamples;
    while (counted == kTurnSamples && self->shared_->book.turn.try_lock()) {
      counted = self->drain(jni);
      self->shared_->book.turn.unlock();
    }
  }
}

uint32_t SignalEngine::drain(void* jni) {
  uint32_t counted = 0;
  for (Sample* sample; counted < kTurnSamples && (sample = queue_.front()) != nullptr; counted++) {
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

void SignalEngine::count(const Sample& sample, void* jni) {
  SampleBook& book = shared_->book;
  if (sample.frame_count <= 0)
    return book.add_reason(sample.thread, reason_of(sample.frame_count), sample.ticks);
  uint32_t frames = static_cast<uint32_t>(sample.frame_count);
  if (frames > queue_.depth()) frames = queue_.depth();
  for (uint32_t i = 0; i < frames; i++) {
    const AsyncFrame& frame = sample.frames[i];
    raw_[i].method = frame.method;
    raw_[i].location = frame.line == kAsyncNative ? kNativeLocation
                       : frame.line < 0           ? kNoLocation
                                                  : frame.line;
  }
  book.add_stack(jni, sample.thread, raw_, frames, sample.ticks);
}

}  // namespace hprof::samples
