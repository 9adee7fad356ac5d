// The way to the agent.
#include "plugins/jvmpi/notifier.h"

#include <hprof/cpp/hash_table.hpp>

namespace hprof::jvmpi {

void Notifier::call(JVMPI_Event* event, jint type, JNIEnv* env) {
  event->event_type = type;
  event->env_id = env;
  // Set at any time: an agent may do so after it has enabled events.
  auto* notify = __atomic_load_n(&functions_.NotifyEvent, __ATOMIC_RELAXED);
  if (notify != nullptr) notify(event);
}

void Notifier::send(JVMPI_Event* event, jint type, JNIEnv* env) {
  Stripe& stripe = stripes_[mix(0, reinterpret_cast<uintptr_t>(env)) % kStripes];
  stripe.inside.fetch_add(1, std::memory_order_seq_cst);
  const bool is_asked = (type & JVMPI_REQUESTED_EVENT) != 0;
  if (!paused_.load(std::memory_order_seq_cst) &&
      (!over_.load(std::memory_order_seq_cst) ||
       (is_ending() && (is_asked || env == ending_env_.load(std::memory_order_relaxed)))))
    call(event, type, env);
  stripe.inside.fetch_sub(1, std::memory_order_release);
}

void Notifier::send_last(JNIEnv* env) {
  if (over_.exchange(true, std::memory_order_seq_cst)) return;
  constexpr int kTries = 1000;
  constexpr uint64_t kPauseNs = 1'000'000;
  for (int i = 0; i < kTries && !exiting_.load(std::memory_order_relaxed); i++) {
    uint32_t inside = 0;
    for (Stripe& stripe : stripes_) inside += stripe.inside.load(std::memory_order_acquire);
    if (inside == 0) break;
    vm_.services.threads->pause(vm_.services.host, kPauseNs);
  }
  JVMPI_Event event = {};
  ending_env_.store(env, std::memory_order_relaxed);
  ending_.store(true, std::memory_order_release);
  if (is_on(JVMPI_EVENT_JVM_SHUT_DOWN)) call(&event, JVMPI_EVENT_JVM_SHUT_DOWN, env);
  ending_.store(false, std::memory_order_release);
}

}  // namespace hprof::jvmpi
