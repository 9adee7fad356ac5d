#include "collector.h"

#include <algorithm>
#include <cstring>
#include <jvmti.h>
#include <new>

#include <hprof/cpp/clock_step.hpp>
#include <hprof/cpp/depth.hpp>
#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/kept_for_reports.hpp>
#include <hprof/cpp/random_moments.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/cpp/vm_flags.hpp>
#include <hprof/draft/output.h>
#include <hprof/tables.h>

#include "targets.h"
#include "times_report.h"

namespace hprof::times {

static constexpr int32_t kFirstPace = 32;  // Node::pace of a new node, in steps
static constexpr uint32_t kDepthOfOld = 2;
static constexpr uint64_t kMostNodes = 1000000;
static constexpr uint64_t kShareOfNodes = 2;
static constexpr uint64_t kLeastStep = 16 * 1024;
static constexpr uint64_t kShareOfSpares = 32;  // of max-memory=, for threads that start later
static constexpr uint32_t kMostSpares = 64;
static constexpr uint32_t kFewThreads = 16;               // as many as the VM and a small program have
static constexpr uint32_t kFirstWithVirtualThreads = 19;  // JDK; a preview there

Collector::Collector(const hprof_host* host, const Config& config) : services_(host), config_(config) {
  depth_ = is_old() ? kDepthOfOld : services_.settings().depth;
  if (depth_ == 0) depth_ = 1;
  depth_ = depth_within(services_, "cpu=times", depth_, kDepthMost);
  limits_.folded = services_.log->loss_counter(
      host, "traces: their share of memory was full, so the caller's trace counts (max-memory=)");
  limits_.uncounted = services_.log->loss_counter(host, "calls: no memory to count them (max-memory=)");
  lost_rows_ = services_.log->loss_counter(host, "traces of calls: no memory to add them up (max-memory=)");
  const auto* output = find_service<hprof_output_service>(host, HPROF_SERVICE_OUTPUT);
  if (output != nullptr && is_old()) output->set_only_table(host, HPROF_TABLE_CPU_OLD);
  retired_.open(services_, depth_);
}

// About how much of max-memory= is left now; UINT64_MAX: there is no limit.
uint64_t Collector::memory_left() const {
  const uint64_t budget = services_.settings().max_memory;
  if (budget == 0) return UINT64_MAX;
  uint64_t left = 0;
  for (uint64_t step = budget; step >= kLeastStep; step /= 2) {
    if (!services_.mem->charge(services_.host, left + step)) continue;
    services_.mem->uncharge(services_.host, left + step);
    left += step;
  }
  return left;
}

// The report of so many traces fits in the part of max-memory= that the agent keeps for reports, and their
// nodes in half of what is left now, since the tables of names grow, too.
uint64_t Collector::most_nodes() const {
  uint64_t most = kMostNodes;
  const uint64_t reported = kept_for_reports(services_.settings().max_memory) / report_bytes_of_trace(depth_);
  const uint64_t held = memory_left() / kShareOfNodes / Graph::bytes_of_trace(depth_);
  if (services_.settings().max_memory == 0) return most;
  if (reported < most) most = reported;
  return held < most ? held : most;
}

static uint64_t bytes_of_spare(uint32_t depth) { return sizeof(State) + Graph::bytes_at_first(depth); }

// The size of nodes is fixed by the depth, so it cannot change while there are any.
hprof_status Collector::control(const hprof_control& control) {
  if (control.what != HPROF_CONTROL_DEPTH || is_old()) return HPROF_UNSUPPORTED;
  if (control.value == static_cast<int64_t>(depth_)) return HPROF_OK;
  TextLine<100> line;
  line.add("cpu=times: the depth cannot change while it counts; it stays ").add(uint64_t{depth_});
  services_.log->message(services_.host, line.c_str());
  return HPROF_UNSUPPORTED;
}

bool Collector::is_old() const { return config_.cpu != nullptr && strcmp(config_.cpu, "old") == 0; }

hprof_status Collector::open(char* error, uint32_t error_size) {
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.flags = HPROF_PROBES_NO_INTRINSICS;
  user.include = config_.include;
  user.exclude = config_.exclude;
  user.thread_field = ThreadWord::kField;
  fill_in_targets(this, config_.times == kClock, &user);
  // Allocated here, since the threads that use it later must not wait for memory.
  if (services_.settings().java_version >= kFirstWithVirtualThreads)
    has_shared_ = shared_.create(services_, &limits_, depth_, nullptr);
  hprof_status status = services_.probes != nullptr ? services_.probes->ask(services_.host, &user, &probes_)
                                                    : HPROF_UNSUPPORTED;
  if (status != HPROF_OK)
    TextBuffer(error, error_size)
        .add("cpu=times and cpu=old must be loaded at VM start-up; attached, use cpu=samples");
  else if (probes_ == 0)
    services_.log->message(services_.host, "cpu=times has no probes in this run and counts no calls");
  else if (names_archive(services_))
    services_.log->message(
        services_.host,
        "cpu=times switches the VM's class-data archive or AOT cache off: it adds a field to "
        "java.lang.Thread, which is loaded first of all; cpu=samples leaves it on");
  asked_ = status == HPROF_OK;
  services_.will_need(kFewThreads * bytes_of_spare(depth_));
  return status;
}

bool Collector::close() {
  if (!asked_ && has_shared_) shared_.destroy();
  return !asked_;
}

State* Collector::new_state() {
  void* memory = services_.mem->allocate(services_.host, sizeof(State));
  return memory != nullptr ? new (memory) State() : nullptr;
}

// The state that this Thread.$hprof belongs to; null: none. On that thread, or under the lock. [app][control]
State* Collector::state_of(void* jni, void* thread) const {
  const auto* node = Address<Node>::of(word_.read(jni, thread, 0));
  return node != nullptr ? node->state.load() : nullptr;
}

// Keeps a strong reference: the VM holds running threads anyway, and the next tick releases ended ones.
void Collector::refer(State* state, void* jni, void* thread) {
  auto* env = static_cast<JNIEnv*>(jni);
  if (state->thread == nullptr && env != nullptr)
    state->thread = without_exception(env, env->NewGlobalRef(static_cast<jobject>(thread)));
}

// Under the lock.
void Collector::forget(State* state, void* jni) {
  if (state->thread == nullptr || jni == nullptr) return;
  static_cast<JNIEnv*>(jni)->DeleteGlobalRef(static_cast<jobject>(state->thread));
  state->thread = nullptr;
}

// The node that the thread is in; the root if not known. Under the lock.
Node* Collector::node_of(const State* state, void* jni) const {
  uint64_t word = 0;
  if (state->thread != nullptr) word = word_.read(jni, state->thread, Address<Node>::word_of(state->seen));
  Node* node = Address<Node>::of(word);
  if (node == nullptr) node = state->last.load(std::memory_order_acquire);
  return node != nullptr && node->state.load() == state ? node : state->own.root();
}

State* Collector::new_state_with_graph() {
  State* state = new_state();
  if (state == nullptr || state->own.create(services_, &limits_, depth_, state)) return state;
  services_.mem->release(services_.host, state, sizeof(State));
  return nullptr;
}

bool Collector::give_spare_back() {
  Spare* spare;
  {
    LockGuard guard(spares_lock_, services_);
    spare = spares_;
    if (spare == nullptr) return false;
    spares_ = spare->next;
    spare_count_--;
  }
  services_.mem->release(services_.host, spare, bytes_of_spare(depth_));
  return true;
}

// Reserves memory for later threads, which must be counted, too; present ones take what they get. [control]
void Collector::keep_spares() {
  const uint64_t bytes = bytes_of_spare(depth_);
  const uint64_t most =
      std::min<uint64_t>(services_.settings().max_memory / kShareOfSpares / bytes, kMostSpares);
  for (;;) {
    {
      LockGuard guard(spares_lock_, services_);
      if (spare_count_ >= most) return;
    }
    auto* spare = static_cast<Spare*>(services_.mem->allocate(services_.host, bytes));
    if (spare == nullptr) return;
    LockGuard guard(spares_lock_, services_);
    spare->next = spares_;
    spares_ = spare;
    spare_count_++;
  }
}

State* Collector::attach_platform(void* jni, void* thread, uint64_t os_id) {
  State* state = new_state_with_graph();
  while (state == nullptr && give_spare_back()) state = new_state_with_graph();
  if (state == nullptr) return nullptr;
  state->step = step_;
  state->graph = &state->own;
  state->own.show(state);
  refer(state, jni, thread);
  state->os_id = os_id;
  uint64_t now = services_.clock->thread_cpu(services_.host, os_id);
  state->cpu_ns = state->cpu_read_ns = now == UINT64_MAX ? 0 : now;
  State* head = states_.load(std::memory_order_relaxed);
  do {
    state->next = head;
  } while (!states_.compare_exchange_weak(head, state, std::memory_order_release, std::memory_order_relaxed));
  return state;
}

State* Collector::attach_virtual() {
  if (!has_shared_) return nullptr;
  State* state;
  {
    LockGuard guard(virtual_lock_, services_);
    state = free_virtual_;
    if (state != nullptr) free_virtual_ = state->next;
  }
  if (state == nullptr) {
    if ((state = new_state()) == nullptr) return nullptr;
    LockGuard guard(virtual_lock_, services_);
    state->made_before = last_virtual_;
    last_virtual_ = state;
  }
  state->shared = 1;
  state->clock = 0;
  state->step = step_;
  state->graph = &shared_;
  state->current = shared_.root();
  state->sentinel.method = kNoMethod;
  state->sentinel.state = state;
  close_ways(&state->sentinel, &state->sentinel);
  shared_.show(state);
  virtual_threads_.fetch_add(1, std::memory_order_relaxed);
  return state;
}

uint64_t Collector::attach(JNIEnv* jni, jobject thread) {
  uint64_t os_id = 0;
  const uint32_t flags = services_.probes->thread(services_.host, jni, thread, &os_id);
  if ((flags & HPROF_THREAD_AGENT) != 0) return 0;
  State* state = (flags & HPROF_THREAD_VIRTUAL) != 0 ? attach_virtual() : attach_platform(jni, thread, os_id);
  if (state == nullptr) {
    count_loss(limits_.uncounted);
    return 0;
  }
  const uint64_t word = Address<Node>::word_of(state->shared != 0 ? &state->sentinel : state->own.root());
  word_.write(jni, thread, word);
  return word;
}

uint64_t Collector::miss(uint64_t state_word, uint64_t node, uint32_t method) {
  auto* state = Address<State>::of(state_word);
  return Address<Node>::word_of(state->graph->follow(state, Address<Node>::of(node), method));
}

void Collector::release(uint64_t state_word) {
  auto* state = Address<State>::of(state_word);
  LockGuard guard(virtual_lock_, services_);
  state->next = free_virtual_;
  free_virtual_ = state;
}

void Collector::thread_start(void* jni, const hprof_thread* thread) {
  if ((thread->flags & (HPROF_THREAD_VIRTUAL | HPROF_THREAD_AGENT)) != 0) return;
  auto* jvmti = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
  jthread self = nullptr;
  if (jvmti->GetCurrentThread(&self) != JVMTI_ERROR_NONE) return;
  State* state = state_of(jni, self);
  if (state == nullptr && (state = attach_platform(jni, self, thread->os_id)) != nullptr)
    word_.write(jni, self, Address<Node>::word_of(state->own.root()));
  if (state != nullptr) state->serial.store(thread->serial, std::memory_order_relaxed);
  static_cast<JNIEnv*>(jni)->DeleteLocalRef(self);
}

// The thread has no Java frame left; if it runs Java code again, it gets a new state.
void Collector::thread_end(void* jni, const hprof_thread* thread) {
  auto* jvmti = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
  jthread self = nullptr;
  if (jvmti->GetCurrentThread(&self) != JVMTI_ERROR_NONE) return;
  auto* node = Address<Node>::of(word_.read(jni, self, 0));
  State* state = node != nullptr ? node->state.load() : nullptr;
  if (state != nullptr && state->shared == 0) {
    state->last.store(node, std::memory_order_release);
    word_.write(jni, self, 0);
    uint64_t cpu = services_.clock->thread_cpu(services_.host, 0);
    if (thread != nullptr) state->serial.store(thread->serial, std::memory_order_relaxed);
    state->final_cpu_ns = cpu == UINT64_MAX ? 0 : cpu;
    state->ended.store(1, std::memory_order_release);
  }
  static_cast<JNIEnv*>(jni)->DeleteLocalRef(self);
}

// 0: reports are not split by thread.
uint32_t Collector::thread_key(uint32_t serial) const {
  return services_.settings().thread_in_traces != 0 && !is_old() ? serial : 0;
}

void Collector::merge(const Graph& graph, uint32_t thread, Tally* into) {
  uint32_t key = thread_key(thread);
  graph.each([this, key, into](const Node* node) {
    const uint64_t calls = node->calls(running_);
    if (calls == 0 && node->self_ns == 0) return;
    if (!into->add(key, node->trace, node->length, calls, node->self_ns)) count_loss(lost_rows_);
  });
}

// Adds the counts of an ended thread's graph to retired_, whose rows are limited like nodes.
void Collector::retire(State* state, void* jni) {
  const uint64_t before = retired_.size();
  if (config_.times == kClock) spread_brief(state, jni, clock_now());
  merge(state->own, state->serial.load(std::memory_order_relaxed), &retired_);
  outside_ns_ += state->own.root()->self_ns;
  limits_.nodes.fetch_add(retired_.size() - before, std::memory_order_relaxed);
  forget(state, jni);
  state->own.destroy();
  services_.mem->release(services_.host, state, sizeof(State));
  keep_spares();
}

// Under the lock.
void Collector::tick(void* jni) {
  State* before = nullptr;
  const uint64_t now = config_.times == kClock ? clock_now() : services_.clock->monotonic(services_.host);
  for (State* state = states_.load(std::memory_order_acquire); state != nullptr;) {
    State* next = state->next;
    bool ended = state->ended.load(std::memory_order_acquire) != 0;
    if (config_.times == kSampled && running_) credit(state, jni, ended, now);
    if (config_.times == kClock && running_ && !ended) credit_brief(state, jni, now);
    // Without room in retired_ the state stays in the list.
    if (ended && retired_.make_room(retired_.size() + state->own.size() + 1)) {
      State* head = state;
      bool out = before != nullptr;
      if (out) {
        before->next = next;
      } else {
        out = states_.compare_exchange_strong(head, next, std::memory_order_acq_rel);
      }
      if (out) retire(state, jni);
      if (!out) before = state;  // another was added before it: retry at the next tick
    } else {
      before = state;
    }
    state = next;
  }
}

void Collector::sample(void* self, void*, hprof_agent_thread* thread) {
  auto* collector = static_cast<Collector*>(self);
  void* jni = collector->services_.jvm->jni(collector->services_.host);
  const Services& services = collector->services_;
  RandomMoments moments;
  moments.seed(services.clock->monotonic(services.host));
  while (services.threads->wait(thread, moments.pause(collector->config_.interval_ns)) != 0) {
    if (!collector->lock_.try_lock()) continue;
    collector->tick(jni);
    collector->lock_.unlock();
  }
}

struct Visit {
  void* jni;
  Collector* collector;
};

// A thread that exists before the start gets its state at its first call, which does not know its serial; a
// state of an earlier run has no reference to its thread. Under the lock, which keeps states from being given
// back.
void Collector::number_states() {
  Visit visit = {services_.jvm->jni(services_.host), this};
  services_.threads->each(services_.host, visit.jni, &visit,
                          [](void* argument, hprof_thread* thread, void* jthread_ref) {
                            auto* at = static_cast<Visit*>(argument);
                            State* state = at->collector->state_of(at->jni, jthread_ref);
                            if (state == nullptr || state->shared != 0) return uint32_t{1};
                            state->serial.store(thread->serial, std::memory_order_relaxed);
                            if (at->collector->running_) refer(state, at->jni, jthread_ref);
                            return uint32_t{1};
                          });
}

// Ends the states of threads that ended without an event: the core's list lacks them. It keeps a thread until
// thread_end has returned, so no thread uses a state that is ended here. Under the lock.
void Collector::end_gone() {
  struct Living {
    const Services& services;
    uint32_t* serials;
    uint64_t count, room;
  } living = {services_, nullptr, 0, 0};
  auto visit = [](void* argument, hprof_thread* thread, void*) {
    auto* to = static_cast<Living*>(argument);
    if (to->count == to->room) return uint32_t{0};
    to->serials[to->count++] = thread->serial;
    return uint32_t{1};
  };
  uint64_t states = 0;
  for (State* state = states_.load(std::memory_order_acquire); state != nullptr; state = state->next)
    states++;
  // Room for more threads than have states; if it is too little, the next call tries again.
  living.room = states * 2 + 1024;
  living.serials = services_.allocate<uint32_t>(living.room);
  if (living.serials == nullptr) return;
  services_.threads->each(services_.host, nullptr, &living, visit);
  std::sort(living.serials, living.serials + living.count);
  for (State* state = states_.load(std::memory_order_acquire); state != nullptr; state = state->next) {
    uint32_t serial = state->serial.load(std::memory_order_relaxed);
    if (living.count == living.room || serial == 0 || state->ended.load(std::memory_order_acquire) != 0)
      continue;
    if (std::binary_search(living.serials, living.serials + living.count, serial)) continue;
    state->final_cpu_ns = state->cpu_ns;
    state->ended.store(1, std::memory_order_release);
  }
  services_.release(living.serials, living.room);
}

// Under the lock.
void Collector::set_running(bool running) {
  if (running == running_) return;
  auto turn = [running](Graph& graph) { running ? graph.resume() : graph.pause(); };
  for (State* state = states_.load(std::memory_order_acquire); state != nullptr; state = state->next)
    turn(state->own);
  if (has_shared_) turn(shared_);
  const uint64_t cpu = services_.clock->process_cpu(services_.host);
  if (running_) cpu_before_ += cpu - cpu_from_;
  cpu_from_ = cpu;
  running_ = running;
}

// Under the lock. 0: not known.
uint64_t Collector::process_cpu() const {
  const uint64_t cpu = services_.clock->process_cpu(services_.host);
  if (cpu == UINT64_MAX) return 0;
  return cpu_before_ + (running_ ? cpu - cpu_from_ : 0);
}

hprof_status Collector::start() {
  if (!started_) {
    keep_spares();
    limits_.most_nodes = most_nodes();
  }
  if (lost_trace_ == 0) {
    // Made while there is memory.
    hprof_frame_id frame = services_.ids->synthetic_frame(services_.host, "JVM", "no_memory_for_the_trace");
    lost_trace_ = services_.ids->trace(services_.host, 0, &frame, 1, 0);
  }
  // Before the first probe, since the clock must not change afterwards.
  if (!started_ && config_.times == kClock) {
    choose_clock(static_cast<JNIEnv*>(services_.jvm->jni(services_.host)));
    limits_.pace = kFirstPace * static_cast<int32_t>(step_);
  }
  if (!started_) word_.open(services_);
  if (!started_ && config_.times == kSampled) clock_step_ns_ = cpu_clock_step(services_);
  started_ = true;
  lock_.lock(services_);
  end_gone();
  tick(services_.jvm->jni(services_.host));
  begin_times();
  set_running(true);
  lock_.unlock();
  hprof_status status = services_.probes->start(services_.host, probes_);
  lock_.lock(services_);
  if (status == HPROF_OK) {
    number_states();
  } else {
    set_running(false);
  }
  lock_.unlock();
  if (status != HPROF_OK) return status;
  sampler_ = services_.threads->start(services_.host, "HPROF call times", &Collector::sample, this);
  if (sampler_ == nullptr && config_.times == kSampled)
    services_.log->message(services_.host,
                           "cpu=times: the timing thread cannot be started: only calls are counted");
  return HPROF_OK;
}

void Collector::stop() {
  services_.probes->stop(services_.host, probes_);
  if (sampler_ != nullptr) services_.threads->stop(services_.host, sampler_);
  sampler_ = nullptr;
  if (!running_) return;
  lock_.lock(services_);
  end_times(services_.jvm->jni(services_.host));
  set_running(false);
  lock_.unlock();
}

hprof_status Collector::report(const hprof_report& report) {
  Tally tally;
  tally.open(services_, depth_);
  Circumstances how = {};
  void* jni = services_.jvm->jni(services_.host);
  lock_.lock(services_);
  number_states();
  if (!running_) end_gone();
  tick(jni);
  tally.make_room(limits_.nodes.load(std::memory_order_relaxed));
  bool whole = tally.add_all(retired_);
  how.outside_ns = outside_ns_;
  for (State* state = states_.load(std::memory_order_acquire); state != nullptr; state = state->next) {
    if (config_.times == kSampled && running_)
      credit(state, jni, true, services_.clock->monotonic(services_.host));
    if (config_.times == kClock && running_) spread_brief(state, jni, clock_now());
    merge(state->own, state->serial.load(std::memory_order_relaxed), &tally);
    how.outside_ns += state->own.root()->self_ns;
    how.threads++;
  }
  if (has_shared_) merge(shared_, 0, &tally);
  how.process_ns = process_cpu();
  lock_.unlock();
  if (!whole) count_loss(lost_rows_, retired_.size());
  if (uses_counter_) tally.turn_ticks(rate_.now(services_));
  how.old = is_old();
  how.counter = uses_counter_;
  how.times = static_cast<Times>(config_.times);
  how.interval_ns = config_.interval_ns;
  how.clock_step_ns = clock_step_ns_;
  how.traces = tally.size();
  how.depth = depth_;
  how.probes = probes_;
  how.lost_trace = lost_trace_;
  how.virtual_threads = virtual_threads_.load(std::memory_order_relaxed);
  hprof_status status = write_report(services_, tally, how, report.cutoff);
  tally.clear();
  return status;
}

void Collector::reset() {
  lock_.lock(services_);
  if (!running_) end_gone();
  void* jni = services_.jvm->jni(services_.host);
  tick(jni);
  limits_.nodes.fetch_sub(retired_.size(), std::memory_order_relaxed);
  retired_.clear();
  outside_ns_ = 0;
  cpu_before_ = 0;
  cpu_from_ = services_.clock->process_cpu(services_.host);
  for (State* state = states_.load(std::memory_order_acquire); state != nullptr; state = state->next) {
    state->own.reset(running_);
    state->own.root()->self_ns = 0;
    if (config_.times != kClock) continue;
    // Time that no node was credited with is from before as well.
    const int64_t left = brief_time(state, node_of(state, jni), clock_now());
    if (left > 0) state->brief_credited += static_cast<uint64_t>(left);
  }
  if (has_shared_) shared_.reset(running_);
  lock_.unlock();
}

}  // namespace hprof::times
