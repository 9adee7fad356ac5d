#include "timed_methods.h"

#include <jvmti.h>

namespace hprof::latency {

namespace {

// The counter is read unordered, so a call may seem to have ended this much before it began.
constexpr uint64_t kMostBackwards = uint64_t{1} << 20;
constexpr uint32_t kFactorBits = 22;
constexpr uint64_t kLongest = uint64_t{1} << 38;  // in units: the product below fits 64 bits

// What the clock service reads after two calls and a test.
#if defined(__x86_64__) || defined(__i386__)
constexpr bool kHasCounter = true;
uint64_t counter_now() { return __builtin_ia32_rdtsc(); }
#else
constexpr bool kHasCounter = false;
uint64_t counter_now() { return 0; }
#endif

struct Clock {
  bool is_counter = false;
  uint64_t (*read)(const hprof_host* host) = nullptr;  // where the counter is not used
  const hprof_host* host = nullptr;
  uint64_t factor = 0;  // nanoseconds per unit, times 1 << kFactorBits
  uint64_t since = 0;   // when this session began, in units

  uint64_t now() const { return (is_counter ? counter_now() : read(host)) >> kUnitShift; }
  uint64_t to_ns(uint64_t units) const {
    return units < kLongest ? units * factor >> kFactorBits : (units >> kFactorBits) * factor;
  }
};

Clock clock;
Ages ages;
uint64_t aged_at = 0;
std::atomic<uint32_t> methods[kNumbers];
// Not touched, and so without memory, but for the numbers in use.
struct alignas(64) {
  Histogram of[kNumbers];
} histograms;

// The program can call it with any number, too.
jlong JNICALL call_begins(JNIEnv*, jclass, jint number) {
  if (number <= 0 || number >= static_cast<jint>(kNumbers)) return 0;
  const uint64_t at = histograms.of[number].begin(&ages, [] { return clock.now(); });
  return static_cast<jlong>(static_cast<uint64_t>(number) << kClockBits | at);
}

// A call that has run for longer than this session is one of an earlier session.
void JNICALL call_ends(JNIEnv*, jclass, jlong call) {
  const uint64_t now = clock.now();
  const auto word = static_cast<uint64_t>(call);
  if (word == 0) return;
  uint64_t passed = (now - word) & kClockMask;
  if (passed > kClockMask - kMostBackwards) passed = 0;
  const uint64_t at = word & kClockMask;
  if (ages.has_left(0, at) && passed > now - clock.since) return;
  histograms.of[word >> kClockBits].end(ages, at, clock.to_ns(passed));
}

}  // namespace

void* TimedMethods::begins() { return reinterpret_cast<void*>(&call_begins); }
void* TimedMethods::ends() { return reinterpret_cast<void*>(&call_ends); }
hprof_method_id TimedMethods::method_of(uint32_t number) {
  return methods[number].load(std::memory_order_acquire);
}
Histogram& TimedMethods::histogram(uint32_t number) { return histograms.of[number]; }
void TimedMethods::read(uint32_t number, Counts* counts) {
  counts->read(histograms.of[number], ages, clock.now());
}
uint64_t TimedMethods::to_ns(uint64_t units) { return clock.to_ns(units); }

static void age_to(uint64_t now) {
  ages.advance(now);
  for (uint32_t i = 1; i < kNumbers; i++) {
    if (TimedMethods::method_of(i) != 0) histograms.of[i].move(ages, now);
  }
}

// In steps of two slots, so that none is left out.
void TimedMethods::age() {
  const uint64_t now = clock.now(), step = uint64_t{2} << ages.first_shift;
  for (; now - aged_at > step; age_to(aged_at)) aged_at += step;
  aged_at = now;
  age_to(now);
}

void TimedMethods::open(const Services& services) {
  services_ = services;
  lost_ = services.log->loss_counter(services.host,
                                     "methods: their calls are not timed, 4,095 are or memory was short");
  for (uint32_t i = 1; i < kNumbers; i++) {
    if (methods[i].load(std::memory_order_relaxed) == 0) continue;
    histograms.of[i].clear();
    methods[i].store(0, std::memory_order_relaxed);
  }
  CounterRate rate;
  uses_counter_ = kHasCounter && rate.open(services) && rate.first() < 1;
  const double unit_ns = (uses_counter_ ? rate.first() : 1) * (1u << kUnitShift);
  clock.is_counter = uses_counter_;
  clock.host = services.host;
  clock.read = services.clock->monotonic;
  clock.factor = static_cast<uint64_t>(unit_ns * (1u << kFactorBits));
  clock.since = clock.now();
  // Slots of 1 to 2 s.
  const auto second = static_cast<uint64_t>(1e9 / unit_ns);
  ages.open(64 - static_cast<uint32_t>(__builtin_clzll(second | 1)), clock.since);
  aged_at = clock.since;
}

// The histograms stay, for calls that end later; the next session uses the same memory.
void TimedMethods::close() {
  if (count() != 0) services_.mem->uncharge(services_.host, uint64_t{count()} * sizeof(Histogram));
}

// Searched from a place that the method's number gives, since classes are rewritten by several threads at
// once.
uint32_t TimedMethods::number(hprof_method_id method) {
  uint32_t at = method % kNumbers;
  for (uint32_t tries = 0; tries < kNumbers; tries++, at = (at + 1) % kNumbers) {
    if (at == 0) continue;
    uint32_t found = methods[at].load(std::memory_order_acquire);
    if (found == 0) {
      if (services_.mem->charge(services_.host, sizeof(Histogram)) == 0) break;
      if (methods[at].compare_exchange_strong(found, method, std::memory_order_acq_rel)) {
        count_.fetch_add(1, std::memory_order_relaxed);
        return at;
      }
      services_.mem->uncharge(services_.host, sizeof(Histogram));
    }
    if (found == method) return at;
  }
  count_loss(lost_);
  return 0;
}

}  // namespace hprof::latency
