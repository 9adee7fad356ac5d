#include "timed_methods.h"

#include <jvmti.h>

#include "java_classes.h"

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
std::atomic<uint64_t> methods[kNumbers];  // label set << 32 | method
Labels thread_labels;
SlowCalls slow;
std::atomic<uint32_t> sets_left{0};  // numbers of methods with labels that can still be taken
std::atomic<uint64_t> without_sets{0};
// Not touched, and so without memory, but for the numbers in use.
Histogram histograms[kNumbers];

// The number of the method with the calling thread's labels; its own if there is none.
uint32_t with_labels(const JNIEnv* jni, uint32_t number) {
  constexpr uint32_t kMostTries = 64;
  const hprof_string_id set = thread_labels.current(jni, hprof_thread_serial{0});
  const auto method = static_cast<hprof_method_id>(methods[number].load(std::memory_order_relaxed));
  if (set == 0 || method == 0) return number;
  const uint64_t wanted = uint64_t{set} << 32 | method;
  uint32_t at = (number + set * 0x9e3779b1u) % kNumbers;
  for (uint32_t tries = 0; tries < kMostTries; tries++, at = (at + 1) % kNumbers) {
    uint64_t found = methods[at].load(std::memory_order_relaxed);
    if (found == wanted) return at;
    if (found != 0 || at == 0) continue;
    uint32_t left = sets_left.load(std::memory_order_relaxed);
    while (left != 0 && !sets_left.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {
    }
    if (left == 0) break;
    if (methods[at].compare_exchange_strong(found, wanted, std::memory_order_acq_rel)) return at;
    sets_left.fetch_add(1, std::memory_order_relaxed);
    if (found == wanted) return at;
  }
  without_sets.fetch_add(1, std::memory_order_relaxed);
  return number;
}

// The program can call it with any number, too.
jlong JNICALL call_begins(JNIEnv* jni, jclass, jint passed) {
  const bool in_super = passed < 0;
  if (in_super) passed = ~passed;
  if (passed <= 0 || passed >= static_cast<jint>(kNumbers)) return 0;
  auto number = static_cast<uint32_t>(passed);
  if (thread_labels.are_on()) number = with_labels(jni, number);
  Histogram& histogram = histograms[number];
  if (in_super) {
    histogram.begin_in_super();
  } else {
    histogram.begin();
  }
  const uint64_t call = static_cast<uint64_t>(number) << (64 - kNumberBits) | (clock.now() & kClockMask);
  return static_cast<jlong>(in_super ? call | kInSuper : call);
}

uint64_t passed_since(uint64_t call, uint64_t now) {
  const uint64_t passed = (now - call) & kClockMask;
  return passed > kClockMask - kMostBackwards ? 0 : passed;
}

// A call that has run for longer than this session is one of an earlier session.
bool is_of_session(uint64_t passed, uint64_t now) { return passed <= now - clock.since; }

Histogram& histogram_of(uint64_t call) { return histograms[call >> (64 - kNumberBits)]; }

jlong JNICALL call_constructed(JNIEnv*, jclass, jlong word) {
  const auto call = static_cast<uint64_t>(word);
  const uint64_t now = clock.now();
  if ((call & kInSuper) == 0 || !is_of_session(passed_since(call, now), now)) return word;
  histogram_of(call).constructed();
  return static_cast<jlong>(call & ~kInSuper);
}

void JNICALL call_ends(JNIEnv* jni, jclass, jlong word) {
  const uint64_t now = clock.now();
  const auto call = static_cast<uint64_t>(word);
  if (call == 0) return;
  const uint64_t passed = passed_since(call, now);
  if (!is_of_session(passed, now)) return;
  if ((call & kInSuper) != 0) histogram_of(call).constructed();
  const uint64_t ns = clock.to_ns(passed);
  histogram_of(call).end(ns);
  if (!slow.is_slow(ns)) return;
  const auto number = static_cast<uint32_t>(call >> (64 - kNumberBits));
  slow.add(jni, TimedMethods::method_of(number), TimedMethods::set_of(number), ns, thread_labels);
}

const hprof_native kNatives[] = {
    {"begins", "(I)J", reinterpret_cast<void (*)()>(&call_begins)},
    {"isConstructed", "(J)J", reinterpret_cast<void (*)()>(&call_constructed)},
    {"ends", "(J)V", reinterpret_cast<void (*)()>(&call_ends)},
};
const hprof_probe_class kClass = {"java/lang/HprofLatency", kHprofLatency, sizeof kHprofLatency, 3, kNatives};

}  // namespace

const hprof_probe_class* TimedMethods::java_class() { return &kClass; }

hprof_method_id TimedMethods::method_of(uint32_t number) {
  return static_cast<hprof_method_id>(methods[number].load(std::memory_order_acquire));
}
hprof_string_id TimedMethods::set_of(uint32_t number) {
  return static_cast<hprof_string_id>(methods[number].load(std::memory_order_acquire) >> 32);
}
const Labels& TimedMethods::labels() { return thread_labels; }
SlowCalls& TimedMethods::slow_calls() { return slow; }
uint64_t TimedMethods::without_set() { return without_sets.load(std::memory_order_relaxed); }

void TimedMethods::find_labels() {
  constexpr uint32_t kMostSets = 1024, kFewestSets = 16;
  constexpr uint64_t kBytes = sizeof(Histogram) + kReportBytes;
  if (set_room_ != 0) return;
  thread_labels.open(services_);
  if (!thread_labels.are_on()) return;
  uint32_t room = kMostSets;
  while (room >= kFewestSets && services_.mem->charge(services_.host, room * kBytes) == 0) room /= 2;
  set_room_ = room >= kFewestSets ? room : 0;
  kept_.fetch_add(set_room_ * kReportBytes, std::memory_order_relaxed);
  sets_left.store(set_room_, std::memory_order_relaxed);
}
Histogram& TimedMethods::histogram(uint32_t number) { return histograms[number]; }
void TimedMethods::read(uint32_t number, Counts* counts) { counts->read(histograms[number]); }

void TimedMethods::open(const Services& services) {
  services_ = services;
  without_sets.store(0, std::memory_order_relaxed);
  lost_ = services.log->loss_counter(services.host,
                                     "methods: 4,095 are timed already, or memory was short (latency=)");
  for (uint32_t i = 1; i < kNumbers; i++) {
    if (methods[i].load(std::memory_order_relaxed) == 0) continue;
    histograms[i].clear();
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
}

// The histograms stay, for calls that end later; the next session uses the same memory.
void TimedMethods::close() {
  lend();
  const uint64_t histograms_charged = uint64_t{count()} + set_room_;
  if (histograms_charged != 0)
    services_.mem->uncharge(services_.host, histograms_charged * sizeof(Histogram));
  sets_left.store(0, std::memory_order_relaxed);
  thread_labels.close();
}

void TimedMethods::lend() {
  lent_ = kept_.exchange(0, std::memory_order_relaxed);
  if (lent_ != 0) services_.mem->uncharge(services_.host, lent_);
}

// Something else may have taken it meanwhile: then the next report has less.
void TimedMethods::take_back() {
  if (lent_ != 0 && services_.mem->charge(services_.host, lent_) != 0)
    kept_.fetch_add(lent_, std::memory_order_relaxed);
}

// Searched from a place that the method's number gives, since classes are rewritten by several threads at
// once.
uint32_t TimedMethods::number(hprof_method_id method) {
  uint32_t at = method % kNumbers;
  for (uint32_t tries = 0; tries < kNumbers; tries++, at = (at + 1) % kNumbers) {
    if (at == 0) continue;
    uint64_t found = methods[at].load(std::memory_order_acquire);
    if (found == 0) {
      constexpr uint64_t kBytes = sizeof(Histogram) + kReportBytes;
      if (services_.mem->charge(services_.host, kBytes) == 0) break;
      if (methods[at].compare_exchange_strong(found, method, std::memory_order_acq_rel)) {
        kept_.fetch_add(kReportBytes, std::memory_order_relaxed);
        count_.fetch_add(1, std::memory_order_relaxed);
        return at;
      }
      services_.mem->uncharge(services_.host, kBytes);
    }
    if (found == method) return at;
  }
  count_loss(lost_);
  return 0;
}

}  // namespace hprof::latency
