// Credits time to nodes: at each tick of the sampler, at a report, at the start and the stop.
#include <jvmti.h>

#include <hprof/cpp/jni_exception.hpp>

#include "collector.h"
#include "targets.h"

namespace hprof::times {

// The CPU clock of a sleeping thread is read at one of so many ticks.
static constexpr uint32_t kMostIdle = 16;

// CPU time, in intervals, that counts for the node where a thread is that has never been found running. One
// that is as likely to be found as any other has been by then, all but e^-8 of them.
static constexpr uint64_t kMostUnseen = 8;

// True: the thread runs in the node that it is in, or would if this thread had not taken its processor. It
// has used nearly all of the time since the last visit, or its clock has moved on since it showed `cpu`, or
// it is in Java code and does not wait; native code may wait in the kernel.
bool Collector::is_running(const State* state, uint64_t cpu, uint64_t used, uint64_t elapsed) const {
  if (used * 8 >= elapsed * 7) return true;
  if (services_.clock->thread_cpu(services_.host, state->os_id) > cpu) return true;
  constexpr jint kNot = JVMTI_THREAD_STATE_IN_NATIVE | JVMTI_THREAD_STATE_SUSPENDED;
  auto* jvmti = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
  jint what = 0;
  return state->thread != nullptr &&
         jvmti->GetThreadState(static_cast<jthread>(state->thread), &what) == JVMTI_ERROR_NONE &&
         (what & (JVMTI_THREAD_STATE_RUNNABLE | kNot)) == JVMTI_THREAD_STATE_RUNNABLE;
}

// Credits the CPU time that a thread has used to the node in which it is found running: one that works in
// short bursts is mostly found waiting, which uses none, and what it has used then waits for the next time.
// The rest of an ended thread is for the node where it last ran or was seen. A thread that has neither moved
// nor used CPU time is visited less often, since reading its clock is a system call.
void Collector::credit(State* state, void* jni, bool always, uint64_t now) {
  const bool ended = state->ended.load(std::memory_order_acquire) != 0;
  Node* node = node_of(state, jni);
  const uint64_t count = __atomic_load_n(&node->count, __ATOMIC_RELAXED);
  const bool moved = node != state->seen || count != state->seen_count;
  if (!moved && !always && state->idle != 0 && ++state->idle % kMostIdle != 0) return;
  const uint64_t cpu =
      ended ? state->final_cpu_ns : services_.clock->thread_cpu(services_.host, state->os_id);
  if (ended && node->length == 0 && state->seen != nullptr) node = state->seen;
  state->seen = node;
  state->seen_count = count;
  const uint64_t used = cpu != UINT64_MAX && cpu > state->cpu_read_ns ? cpu - state->cpu_read_ns : 0;
  const uint64_t elapsed = now - state->visited_ns;
  state->visited_ns = now;
  state->cpu_read_ns += used;
  if (used != 0) {
    state->idle = 0;
  } else if (state->idle == 0) {
    state->idle = 1;
  }
  if (cpu == UINT64_MAX || cpu <= state->cpu_ns || (used == 0 && !always)) return;
  Node* at = used != 0 && !ended ? node_of(state, jni) : nullptr;
  const bool runs = at != nullptr && is_running(state, cpu, used, elapsed);
  if (runs) state->ran = node = at;
  const bool waits = state->ran != nullptr || cpu - state->cpu_ns < kMostUnseen * config_.interval_ns;
  if (!runs && !always && waits) return;
  if (!runs && state->ran != nullptr) node = state->ran;
  node->self_ns += cpu - state->cpu_ns;
  state->cpu_ns = cpu;
}

// clock=wall: the thread's time in brief nodes that no node has been credited with; 0 or less if it is not
// known now. The thread runs meanwhile, and an error is made up for at the next visit. HprofCalls writes the
// clock before the sum, so a sum that includes the time since `clock` comes with another clock. Under the
// lock.
int64_t Collector::brief_time(const State* state, const Node* node, uint64_t now) const {
  const uint64_t clock = __atomic_load_n(&state->clock, __ATOMIC_ACQUIRE);
  uint64_t brief = __atomic_load_n(&state->brief, __ATOMIC_ACQUIRE);
  if (__atomic_load_n(&state->clock, __ATOMIC_RELAXED) != clock) return 0;
  const bool goes_on = running_ && state->ended.load(std::memory_order_acquire) == 0 && node->is_brief();
  if (goes_on && clock != 0 && static_cast<int64_t>(now - clock) > 0) brief += now - clock;
  return static_cast<int64_t>(brief - state->brief_credited);
}

// Credits the node that the thread is in with the time in brief nodes since the thread was last found in one.
void Collector::credit_brief(State* state, void* jni, uint64_t now) {
  const uint64_t clock = __atomic_load_n(&state->clock, __ATOMIC_RELAXED);
  if (clock == state->clock_seen && state->idle != 0) return;  // still in a node that is not brief
  Node* node = node_of(state, jni);
  state->seen = node;
  state->idle = !node->is_brief();
  state->clock_seen = clock;
  if (state->idle != 0) return;
  const int64_t time = brief_time(state, node, now);
  if (time <= 0) return;
  node->self_ns += static_cast<uint64_t>(time);
  state->brief_credited += static_cast<uint64_t>(time);
}

// Spreads the rest in proportion to what brief nodes have. Under the lock.
void Collector::spread_brief(State* state, void* jni, uint64_t now) {
  const Node* at = node_of(state, jni);
  const int64_t left = brief_time(state, at, now);
  if (left <= 0) return;
  double sum = 0;
  Node* first = nullptr;
  state->own.each([&](Node* node) {
    if (!node->is_brief()) return;
    if (first == nullptr) first = node;
    sum += static_cast<double>(node->self_ns);
  });
  if (first == nullptr) return;
  uint64_t rest = static_cast<uint64_t>(left);
  const double share = sum > 0 ? static_cast<double>(left) / sum : 0;
  state->own.each([&](Node* node) {
    if (!node->is_brief()) return;
    const auto part = static_cast<uint64_t>(static_cast<double>(node->self_ns) * share);
    const uint64_t given = part < rest ? part : rest;
    node->self_ns += given;
    rest -= given;
  });
  first->self_ns += rest;
  state->brief_credited += static_cast<uint64_t>(left);
}

// System.nanoTime() now; 0: it could not be called.
static int64_t system_nano_time(JNIEnv* jni) {
  jclass system = jni->FindClass("java/lang/System");
  jmethodID method = system != nullptr ? jni->GetStaticMethodID(system, "nanoTime", "()J") : nullptr;
  const int64_t now = method != nullptr ? jni->CallStaticLongMethod(system, method) : 0;
  clear_exception(jni);
  if (system != nullptr) jni->DeleteLocalRef(system);
  return now;
}

static bool switch_targets_to_counter(JNIEnv* jni) {
  jclass targets = jni->FindClass(kTargetClass);
  jfieldID field = targets != nullptr ? jni->GetStaticFieldID(targets, "counter", "Z") : nullptr;
  if (field != nullptr) jni->SetStaticBooleanField(targets, field, JNI_TRUE);
  clear_exception(jni);
  if (targets != nullptr) jni->DeleteLocalRef(targets);
  return field != nullptr;
}

// Measures the processor's counter for some milliseconds, and makes HprofCalls use it if it is steady. Before
// the first probe.
void Collector::choose_clock(JNIEnv* jni) {
  constexpr double kBriefNs = 1000;  // State::step
  const auto before = static_cast<int64_t>(services_.clock->monotonic(services_.host));
  const int64_t java = jni != nullptr ? system_nano_time(jni) : 0;
  if (java != 0) nano_time_ = java - before;
  uses_counter_ = jni != nullptr && rate_.open(services_) && switch_targets_to_counter(jni);
  step_ = static_cast<uint64_t>(uses_counter_ ? kBriefNs / rate_.first() : kBriefNs);
  if (step_ == 0) step_ = 1;
}

// Earlier time does not count. Under the lock, before the probes are switched on.
void Collector::begin_times() {
  for (State* state = states_.load(std::memory_order_acquire); state != nullptr; state = state->next) {
    uint64_t now =
        config_.times == kClock ? clock_now() : services_.clock->thread_cpu(services_.host, state->os_id);
    if (now == UINT64_MAX) continue;
    __atomic_store_n(&state->clock, config_.times == kSampled ? 0 : now, __ATOMIC_RELAXED);
    state->cpu_ns = state->cpu_read_ns = now;
    state->brief_credited = __atomic_load_n(&state->brief, __ATOMIC_RELAXED);
  }
  LockGuard guard(virtual_lock_, services_);
  for (State* state = last_virtual_; state != nullptr; state = state->made_before)
    __atomic_store_n(&state->clock, 0, __ATOMIC_RELAXED);
}

// Credits the rest to the node that each thread is in now. Under the lock, after the probes were switched
// off.
void Collector::end_times(void* jni) {
  tick(jni);
  for (State* state = states_.load(std::memory_order_acquire); state != nullptr; state = state->next) {
    if (config_.times == kSampled) credit(state, jni, true, services_.clock->monotonic(services_.host));
    if (config_.times == kClock) spread_brief(state, jni, clock_now());
    forget(state, jni);
  }
}

}  // namespace hprof::times
