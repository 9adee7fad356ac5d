#include "notifier.h"

#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/text.hpp>

namespace hprof::jvmpi {

void Notifier::send(JVMPI_Event* event, jint type, JNIEnv* env) {
  Stripe& stripe = stripes_[mix(0, reinterpret_cast<uintptr_t>(env)) % kStripes].stripe;
  // The event whose handler has run longest, not others that threads of the stripe send meanwhile.
  if ((stripe.state.fetch_add(1, std::memory_order_seq_cst) & kInside) == 0)
    stripe.type.store(type & ~JVMPI_REQUESTED_EVENT, std::memory_order_relaxed);
  const bool is_asked = (type & JVMPI_REQUESTED_EVENT) != 0;
  if (!paused_.load(std::memory_order_seq_cst) &&
      (!over_.load(std::memory_order_seq_cst) || (is_asked && !ended_.load(std::memory_order_acquire)) ||
       (is_ending() && env == ending_env_.load(std::memory_order_relaxed))))
    call(event, type, env);
  stripe.state.fetch_add(kPassed - 1, std::memory_order_release);
}

// The second thread includes the changes of the first.
void Notifier::begin_round() {
  uint32_t old = round_.load(std::memory_order_seq_cst), fresh = 0;
  do {
    fresh = (old | kCalls) + 1;
    if (fresh == 0) fresh = kRoundStep;
    if (!calls_allowed_.load(std::memory_order_seq_cst) || paused_.load(std::memory_order_seq_cst) ||
        over_.load(std::memory_order_seq_cst))
      continue;
    if (is_on(JVMPI_EVENT_METHOD_ENTRY)) fresh |= kEntry;
    if (is_on(JVMPI_EVENT_METHOD_ENTRY2)) fresh |= kEntry2;
    if (is_on(JVMPI_EVENT_METHOD_EXIT)) fresh |= kExit;
  } while (!round_.compare_exchange_weak(old, fresh, std::memory_order_seq_cst));
}

void Notifier::meet(Own* own) {
  if (own->is_known.exchange(true, std::memory_order_relaxed)) return;
  own->next = owns_.load(std::memory_order_relaxed);
  while (!owns_.compare_exchange_weak(own->next, own, std::memory_order_acq_rel)) {
  }
}

// A stuck thread that shares a stripe with a busy one may go unnoticed.
void Notifier::find_stuck() {
  constexpr uint64_t kLongNs = 10'000'000'000;
  const uint64_t now = vm_.services.clock->monotonic(vm_.services.host);
  each_stripe([&](Stripe& stripe) {
    const uint32_t state = stripe.state.load(std::memory_order_relaxed);
    if ((state & kInside) == 0 || state != stripe.seen_state || stripe.since_ns == 0) {
      stripe.seen_state = state;
      stripe.since_ns = now;
    } else if (!stuck_ && now - stripe.since_ns >= kLongNs) {
      stuck_ = true;
      const auto type = static_cast<uint32_t>(stripe.type.load(std::memory_order_relaxed));
      TextLine<120> line;
      line.add("jvmpi: the agent's handler of event ")
          .add(uint64_t{type != 0 ? type : state & kInside})
          .add(" has not returned for 10 s");
      vm_.services.log->message(vm_.services.host, line.c_str());
    }
  });
}

bool Notifier::finish() {
  if (over_.exchange(true, std::memory_order_seq_cst)) return false;
  begin_round();
  constexpr int kTries = 1000;
  constexpr uint64_t kPauseNs = 1'000'000;
  for (int i = 0; i < kTries && !exiting_.load(std::memory_order_relaxed); i++) {
    // Pauses at first, too: then a thread in send_call() has either seen the new round, or is seen here.
    vm_.services.threads->pause(vm_.services.host, kPauseNs);
    uint32_t inside = 0;
    each_stripe([&](Stripe& stripe) { inside += stripe.state.load(std::memory_order_acquire) & kInside; });
    if (inside == 0) break;
  }
  return true;
}

void Notifier::send_last(JNIEnv* env) {
  JVMPI_Event event = {};
  ending_env_.store(env, std::memory_order_relaxed);
  ending_.store(true, std::memory_order_release);
  if (is_on(JVMPI_EVENT_JVM_SHUT_DOWN)) call(&event, JVMPI_EVENT_JVM_SHUT_DOWN, env);
  ending_.store(false, std::memory_order_release);
  ended_.store(true, std::memory_order_release);
}

}  // namespace hprof::jvmpi
