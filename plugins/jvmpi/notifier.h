// The way to the agent: its NotifyEvent, which events it wants, and the end of them all.
//
// Threads that are inside a handler are counted in stripes, so that JVM_SHUT_DOWN comes after all other
// events.
#pragma once

#include <atomic>
#include <initializer_list>

#include "plugins/jvmpi/vm.h"

namespace hprof::jvmpi {

class Notifier {
 public:
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
  void set(jint type, bool on) { on_[type].store(on, std::memory_order_relaxed); }

  // Calls the agent on the calling thread, whether the event is enabled or not. [app][control]
  void send(JVMPI_Event* event, jint type, JNIEnv* env);
  // The same for an event that is enabled.
  void send_if_on(JVMPI_Event* event, jint type, JNIEnv* env) {
    if (is_on(type)) send(event, type, env);
  }
  // Events pause: the collector is stopped.
  void pause(bool paused) { paused_.store(paused, std::memory_order_seq_cst); }
  // The last event. Waits for threads that are inside a handler, for a second at most; not when the agent
  // itself ends the VM, which it may do in a handler.
  void send_last(JNIEnv* env);
  // Says so, once, when a handler has not returned for ten seconds. Now and then, by one thread. [control]
  void look_for_stuck();
  void expect_exit() { exiting_.store(true, std::memory_order_relaxed); }
  // In the handler of JVM_SHUT_DOWN: an agent may ask for its dumps there, and gets what they name defined.
  bool is_ending() const { return ending_.load(std::memory_order_acquire); }

 private:
  static constexpr uint32_t kStripes = 64;
  static constexpr uint32_t kInside = 0xffff, kPassed = 0x10000;
  struct Stripe {
    std::atomic<uint32_t> state;  // threads inside, and how many have left, times kPassed
    std::atomic<jint> type;       // the event that came last
    uint32_t looked_at;           // look_for_stuck: the state then, and when it was new
    uint32_t reserved;
    uint64_t since_ns;
    char apart[40];  // from the next, by a cache line
  };

  void call(JVMPI_Event* event, jint type, JNIEnv* env);

  const Vm& vm_;
  JVMPI_Interface functions_ = {};
  std::atomic<bool> on_[JVMPI_MAX_EVENT_TYPE_VAL + 1] = {};
  std::atomic<bool> paused_{false};
  std::atomic<bool> over_{false};
  std::atomic<bool> ending_{false};
  std::atomic<JNIEnv*> ending_env_{nullptr};
  std::atomic<bool> exiting_{false};
  bool stuck_ = false;  // said
  Stripe stripes_[kStripes] = {};
};

}  // namespace hprof::jvmpi
