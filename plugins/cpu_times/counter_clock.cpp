#include "counter_clock.h"

#include <jvmti.h>

#include <hprof/cpp/jni_exception.hpp>

namespace hprof::times {

static constexpr uint32_t kPairs = 4;
static constexpr uint64_t kPairDistanceNs = 500'000;
static constexpr double kSteady = 0.02;  // the most that a part's rate may differ from the whole's
static constexpr double kSlowestTick = 1000, kFastestTick = 0.02;  // nanoseconds
static constexpr uint32_t kTries = 16;
#ifdef __aarch64__
static constexpr bool kIsTried = false;  // not tested on hardware
#else
static constexpr bool kIsTried = true;
#endif

static double rate(const ClockPair& from, const ClockPair& to) {
  if (to.ns <= from.ns || to.ticks <= from.ticks) return 0;
  return static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
}

double steady_rate(const ClockPair* pairs, uint32_t count) {
  if (count < 2) return 0;
  double whole = rate(pairs[0], pairs[count - 1]);
  if (whole < kFastestTick || whole > kSlowestTick) return 0;
  for (uint32_t i = 1; i < count; i++) {
    double part = rate(pairs[i - 1], pairs[i]);
    if (part < whole * (1 - kSteady) || part > whole * (1 + kSteady)) return 0;
  }
  return whole;
}

uint64_t ns_of_ticks(uint64_t ticks, double ns_per_tick) {
  auto sum = static_cast<int64_t>(ticks);
  return sum > 0 ? static_cast<uint64_t>(static_cast<double>(sum) * ns_per_tick + 0.5) : 0;
}

// Reads the counter between two reads of the other clock; takes the fastest of a few tries.
static ClockPair read_both(const Services& services) {
  ClockPair pair = {};
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < kTries; i++) {
    uint64_t before = services.clock->monotonic(services.host);
    uint64_t ticks = services.clock->counter(services.host);
    uint64_t took = services.clock->monotonic(services.host) - before;
    if (took >= least) continue;
    least = took;
    pair = {before + took / 2, ticks};
  }
  return pair;
}

static bool switch_tracker_to_counter(const Services& services) {
  auto* jni = static_cast<JNIEnv*>(services.jvm->jni(services.host));
  if (jni == nullptr) return false;
  jclass tracker = jni->FindClass("java/lang/HprofTracker");
  jfieldID field = tracker != nullptr ? jni->GetStaticFieldID(tracker, "counter", "Z") : nullptr;
  if (field != nullptr) jni->SetStaticBooleanField(tracker, field, JNI_TRUE);
  clear_exception(jni);
  if (tracker != nullptr) jni->DeleteLocalRef(tracker);
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
  const double ticks = is_open_ ? static_cast<double>(ns) / first_rate_ : static_cast<double>(ns);
  return ticks > 1 ? static_cast<uint64_t>(ticks) : 1;
}

bool CounterClock::open(const Services& services) {
  nano_time_ = measure_nano_time(services);
  if (!kIsTried || !HPROF_HAS(services.clock, hprof_clock_service, counter)) return false;
  if (services.clock->counter(services.host) == 0) return false;
  ClockPair pairs[kPairs];
  for (uint32_t i = 0; i < kPairs; i++) {
    uint64_t begin = services.clock->monotonic(services.host);
    while (i != 0 && services.clock->monotonic(services.host) - begin < kPairDistanceNs) {
    }
    pairs[i] = read_both(services);
  }
  first_ = pairs[0];
  first_rate_ = steady_rate(pairs, kPairs);
  is_open_ = first_rate_ != 0 && switch_tracker_to_counter(services);
  return is_open_;
}

double CounterClock::ns_per_tick(const Services& services) const {
  double whole = rate(first_, read_both(services));
  return whole != 0 ? whole : first_rate_;
}

}  // namespace hprof::times
