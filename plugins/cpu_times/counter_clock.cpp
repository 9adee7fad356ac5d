#include "counter_clock.h"

#include <jvmti.h>

#include <hprof/cpp/jni_exception.hpp>

#include "targets.h"

namespace hprof::times {

uint64_t ns_of_ticks(uint64_t ticks, double ns_per_tick) {
  auto sum = static_cast<int64_t>(ticks);
  return sum > 0 ? static_cast<uint64_t>(static_cast<double>(sum) * ns_per_tick + 0.5) : 0;
}

static bool switch_targets_to_counter(const Services& services) {
  auto* jni = static_cast<JNIEnv*>(services.jvm->jni(services.host));
  if (jni == nullptr) return false;
  jclass targets = jni->FindClass(kTargetClass);
  jfieldID field = targets != nullptr ? jni->GetStaticFieldID(targets, "counter", "Z") : nullptr;
  if (field != nullptr) jni->SetStaticBooleanField(targets, field, JNI_TRUE);
  clear_exception(jni);
  if (targets != nullptr) jni->DeleteLocalRef(targets);
  return field != nullptr;
}

// System.nanoTime() minus our clock, in ns; 0 in unit tests, which have no VM.
static int64_t measure_nano_time(const Services& services) {
  auto* jni = static_cast<JNIEnv*>(services.jvm->jni(services.host));
  if (jni == nullptr) return 0;
  jclass system = jni->FindClass("java/lang/System");
  jmethodID method = system != nullptr ? jni->GetStaticMethodID(system, "nanoTime", "()J") : nullptr;
  int64_t ahead = 0;
  if (method != nullptr) {
    const auto before = static_cast<int64_t>(services.clock->monotonic(services.host));
    ahead = jni->CallStaticLongMethod(system, method) - before;
  }
  clear_exception(jni);
  if (system != nullptr) jni->DeleteLocalRef(system);
  return ahead;
}

uint64_t CounterClock::now(const Services& services) const {
  if (is_open_) return services.clock->counter(services.host);
  return services.clock->monotonic(services.host) + static_cast<uint64_t>(nano_time_);
}

uint64_t CounterClock::ticks_of(uint64_t ns) const {
  const double ticks = is_open_ ? static_cast<double>(ns) / rate_.first() : static_cast<double>(ns);
  return ticks > 1 ? static_cast<uint64_t>(ticks) : 1;
}

bool CounterClock::open(const Services& services) {
  nano_time_ = measure_nano_time(services);
  is_open_ = rate_.open(services) && switch_targets_to_counter(services);
  return is_open_;
}

}  // namespace hprof::times
