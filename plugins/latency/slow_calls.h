// Calls that took at least latency-events=, as events: each with its stack at its end and the context of its
// thread then.
#pragma once

#include <atomic>
#include <jvmti.h>

#include <hprof/cpp/contexts.hpp>
#include <hprof/cpp/labels.hpp>
#include <hprof/cpp/session_gate.hpp>

namespace hprof::latency {

// One instance for each process, which probes use: open() takes it over.
class SlowCalls {
 public:
  // least_ns: 0: there are none. [onload]
  void open(const Services& services, uint64_t least_ns);
  // When all units have been created. [control]
  void start();
  bool stop();  // waits for threads that are in add(); false: one still is [control]

  bool is_slow(uint64_t ns) const { return ns >= shown_from_.load(std::memory_order_relaxed); }  // [any]
  // A call is over, by the thread that ends it: HprofLatency.exit and its native method are on top of the
  // stack. set: the label set under which it is counted. [app]
  void add(JNIEnv* jni, hprof_method_id method, hprof_string_id set, uint64_t ns, const Labels& labels);

 private:
  void write(JNIEnv* jni, hprof_method_id method, hprof_string_id set, uint64_t ns, const Labels& labels);
  hprof_trace_serial trace(JNIEnv* jni, hprof_thread_serial thread, hprof_string_id set,
                           const Labels& labels) const;

  static constexpr uint64_t kNever = UINT64_MAX;
  Services services_;
  jvmtiEnv* jvmti_ = nullptr;
  uint64_t least_ns_ = kNever;
  uint32_t depth_ = 0;
  Contexts contexts_;
  std::atomic<uint64_t> shown_from_{kNever};  // least_ns_, while calls are passed on
  SessionGate gate_;
};

}  // namespace hprof::latency
