// Whose the time is: what the collector does about a thread at each look, at a report, and when it is started
// or stopped.
#include "collector.h"

namespace hprof::times {

// A thread that sleeps has its CPU clock read in one of so many ticks.
static constexpr uint32_t kMostIdle = 16;

// Credits the CPU time since the last look to the node that the thread is in now, or for an ended thread to
// the one where it was last seen. A thread that has neither moved nor used CPU time is looked at less often:
// reading its clock is a system call.
void Collector::credit(State* state, void* jni, bool always) {
  const bool ended = state->ended.load(std::memory_order_acquire) != 0;
  Node* node = node_of(state, jni);
  if (ended && node->length == 0 && state->seen != nullptr) node = state->seen;
  uint64_t count = __atomic_load_n(&node->count, __ATOMIC_RELAXED);
  bool moved = node != state->seen || count != state->seen_count;
  if (!moved && !always && state->idle != 0 && ++state->idle % kMostIdle != 0) return;
  const uint64_t cpu =
      ended ? state->final_cpu_ns : services_.clock->thread_cpu(services_.host, state->os_id);
  state->seen = node;
  state->seen_count = count;
  if (cpu == UINT64_MAX || cpu <= state->cpu_ns) {
    if (state->idle == 0) state->idle = 1;
    return;
  }
  state->idle = 0;
  node->self_ns += cpu - state->cpu_ns;
  state->cpu_ns = cpu;
}

// times=clock: the time that the thread has spent in brief nodes and that no node has been credited with; at
// most 0 if that cannot be told now. It goes on meanwhile: what is too much now will be too little at the
// next look. The tracker writes the clock before the sum, so a sum that has the time since `clock`, too,
// comes with another clock. Under the lock.
int64_t Collector::brief_time(const State* state, const Node* node, uint64_t now) const {
  const uint64_t clock = __atomic_load_n(&state->clock, __ATOMIC_ACQUIRE);
  uint64_t brief = __atomic_load_n(&state->brief, __ATOMIC_ACQUIRE);
  if (__atomic_load_n(&state->clock, __ATOMIC_RELAXED) != clock) return 0;
  const bool goes_on = running_ && state->ended.load(std::memory_order_acquire) == 0 && node->is_brief();
  if (goes_on && clock != 0 && static_cast<int64_t>(now - clock) > 0) brief += now - clock;
  return static_cast<int64_t>(brief - state->brief_credited);
}

// Where the thread is found has the time of all its brief nodes since it was last found in one.
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

// What is left, in proportion to what the brief nodes have. Under the lock.
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

uint64_t Collector::clock_now() const { return counter_.now(services_); }

// Time before now does not count. Under the lock, before the probes are switched on.
void Collector::begin_times() {
  for (State* state = states_.load(std::memory_order_acquire); state != nullptr; state = state->next) {
    uint64_t now =
        config_.times == kClock ? clock_now() : services_.clock->thread_cpu(services_.host, state->os_id);
    if (now == UINT64_MAX) continue;
    __atomic_store_n(&state->clock, config_.times == kSampled ? 0 : now, __ATOMIC_RELAXED);
    state->cpu_ns = now;
    state->brief_credited = __atomic_load_n(&state->brief, __ATOMIC_RELAXED);
  }
  LockGuard guard(virtual_lock_, services_);
  for (State* state = last_virtual_; state != nullptr; state = state->made_before)
    __atomic_store_n(&state->clock, 0, __ATOMIC_RELAXED);
}

// Credits the remaining time to the node that each thread is in now. Under the lock, after the probes were
// switched off.
void Collector::end_times(void* jni) {
  tick(jni);
  for (State* state = states_.load(std::memory_order_acquire); state != nullptr; state = state->next) {
    if (config_.times == kSampled) credit(state, jni, true);
    if (config_.times == kClock) spread_brief(state, jni, clock_now());
    forget(state, jni);
  }
}

}  // namespace hprof::times
