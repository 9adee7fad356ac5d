// Calls the agent: its NotifyEvent; which events are enabled; the end of all events.
//
// Threads inside a handler are counted in stripes, so that JVM_SHUT_DOWN comes after all other events.
#pragma once

#include <atomic>
#include <initializer_list>

#include "vm.h"

namespace hprof::jvmpi {

class Notifier {
 private:
  struct Stripe {
    // Low half: how many threads are in the agent's function; in a thread's own stripe, the type of the event
    // that it sends. High half: how many times a thread has left it.
    std::atomic<uint32_t> state;
    std::atomic<jint> type;  // type of the event sent the longest ago; 0: a thread's own
    uint32_t seen_state;     // find_stuck(): the state at that time, and since when
    uint32_t reserved;
    uint64_t since_ns;
  };

 public:
  // A thread's own stripe, which no other thread writes. Zeroed memory is one; it is never freed.
  struct Own {
    Stripe stripe;
    std::atomic<bool> is_known;
    Own* next;
  };

  explicit Notifier(const Vm& vm) : vm_(vm) {}

  JVMPI_Interface& functions() { return functions_; }
  static bool is_event(jint type) { return type > 0 && type <= JVMPI_MAX_EVENT_TYPE_VAL; }
  bool is_on(jint type) const { return on_[type].load(std::memory_order_relaxed); }
  bool is_any_on(std::initializer_list<jint> types) const {
    for (const jint type : types) {
      if (is_on(type)) return true;
    }
    return false;
  }
  void set(jint type, bool on) {
    on_[type].store(on, std::memory_order_relaxed);
    begin_round();
  }
  // A number that changes whenever events are switched; never 0. Its low bits: the method events to send.
  uint32_t round() const { return round_.load(std::memory_order_acquire); }
  static constexpr uint32_t kEntry = 1, kEntry2 = 2, kExit = 4, kCalls = kEntry | kEntry2 | kExit;
  // Method events are sent only after the VM is initialised.
  void allow_calls(bool allowed) {
    calls_allowed_.store(allowed, std::memory_order_seq_cst);
    begin_round();
  }

  // Calls the agent on the calling thread, even if the event is not enabled. [app][control]
  void send(JVMPI_Event* event, jint type, JNIEnv* env);
  // Calls the agent if the event is enabled.
  void send_if_on(JVMPI_Event* event, jint type, JNIEnv* env) {
    if (is_on(type)) send(event, type, env);
  }
  // Sends METHOD_ENTRY (kEntry) or METHOD_EXIT (kExit) on a known thread, without an atomic instruction or a
  // load that waits for the thread's own store.
  void send_call(jmethodID method, jint type, uint32_t bit, JNIEnv* env, Own* own) {
    const uint32_t state = own->stripe.state.load(std::memory_order_relaxed);
    own->stripe.state.store((state & ~kInside) | static_cast<uint32_t>(type), std::memory_order_relaxed);
    // The compiler keeps this order; finish() waits until the processor must have, too.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if ((round_.load(std::memory_order_relaxed) & bit) != 0) {
      JVMPI_Event event;
      event.u.method.method_id = method;
      call(&event, type, env);
    }
    own->stripe.state.store(state + kPassed, std::memory_order_release);
  }
  // Called on a thread before its first send_call().
  void meet(Own* own);
  // Suppresses events while the collector is stopped.
  void pause(bool paused) {
    paused_.store(paused, std::memory_order_seq_cst);
    begin_round();
  }
  // Stops all events except those that a handler requests. Waits up to a second for threads inside a handler,
  // unless the agent itself ends the VM, perhaps in a handler. False: finished before.
  bool finish();
  // Sends the last event, after finish().
  void send_last(JNIEnv* env);
  // Prints a message, once, if a handler has not returned for ten seconds. Called regularly on one thread.
  // [control]
  [[gnu::cold]] void find_stuck();
  void expect_exit() { exiting_.store(true, std::memory_order_relaxed); }
  // True: in the handler of JVM_SHUT_DOWN, where an agent may request dumps, and gets the definitions that
  // they need.
  bool is_ending() const { return ending_.load(std::memory_order_acquire); }

 private:
  static constexpr uint32_t kStripes = 64;
  static constexpr uint32_t kInside = 0xffff, kPassed = 0x10000;
  struct Apart {
    Stripe stripe;
    char rest[40];  // of a cache line
  };

  void begin_round();
  void call(JVMPI_Event* event, jint type, JNIEnv* env) {
    event->event_type = type;
    event->env_id = env;
    // Read each time: an agent may set it after it has enabled events.
    auto* notify = __atomic_load_n(&functions_.NotifyEvent, __ATOMIC_RELAXED);
    if (notify != nullptr) notify(event);
  }
  template <class Visit>
  void each_stripe(const Visit& visit) {
    for (Apart& apart : stripes_) visit(apart.stripe);
    for (Own* own = owns_.load(std::memory_order_acquire); own != nullptr; own = own->next)
      visit(own->stripe);
  }

  const Vm& vm_;
  JVMPI_Interface functions_ = {};
  static constexpr uint32_t kRoundStep = kCalls + 1;
  std::atomic<uint32_t> round_{kRoundStep};
  std::atomic<Own*> owns_{nullptr};
  std::atomic<bool> on_[JVMPI_MAX_EVENT_TYPE_VAL + 1] = {};
  std::atomic<bool> paused_{false};
  std::atomic<bool> over_{false};
  std::atomic<bool> calls_allowed_{false};
  std::atomic<bool> ending_{false}, ended_{false};
  std::atomic<JNIEnv*> ending_env_{nullptr};
  std::atomic<bool> exiting_{false};
  bool stuck_ = false;  // message was printed
  Apart stripes_[kStripes] = {};
};

}  // namespace hprof::jvmpi
