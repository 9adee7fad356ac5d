// The stack of an allocation, from the VM, and its trace.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/services.hpp>

namespace hprof::sites {

class AllocationStacks {
 public:
  static constexpr uint32_t kMostFrames = 512;  // a deeper stack is cut there

  // Finds the methods that traces leave out: the probes' own, and Object.<init>. jni = null: there are no
  // probes. [control]
  bool open(const Services& services, JNIEnv* jni);
  void set_depth(uint64_t depth);  // a message says so if that is too deep [control]
  uint32_t depth() const { return depth_.load(std::memory_order_relaxed); }

  // Frames of the calling thread, without those on top that belong to a probe; at most depth(). [app]
  uint32_t of_current(jvmtiFrameInfo* frames) const { return of_current(frames, depth()); }
  uint32_t of_current(jvmtiFrameInfo* frames, uint32_t most) const;
  // Their numbers. [app] the thread whose frames they are
  void name(JNIEnv* jni, const jvmtiFrameInfo* frames, uint32_t count, hprof_frame_id* ids) const;
  // The trace of frames with these numbers; 0: no room. [app]
  hprof_trace_serial trace(uint32_t thread, const hprof_frame_id* ids, uint32_t count) const;
  // The same of frames without. [app] the thread whose frames they are
  hprof_trace_serial trace(JNIEnv* jni, uint32_t thread, const jvmtiFrameInfo* frames, uint32_t count) const;
  static uint64_t hash(const jvmtiFrameInfo* frames, uint32_t count);
  // A trace of one frame JVM.<name>.
  hprof_trace_serial stand_in(uint32_t thread, const char* name) const;

  // The methods that traces leave out are numbered from 0 to probe_count() - 1.
  static constexpr uint32_t probe_count() { return kProbeCount + 1; }
  // The jmethodID of one.
  const void* probe(uint32_t number) const { return number < kProbeCount ? probes_[number] : object_init_; }
  // Calls one, and errand() in the native method that it calls. Probes are live. [control]
  template <class Errand>
  void call_in_probe(JNIEnv* jni, uint32_t number, const Errand& errand) {
    errand_ = &errand;
    run_errand_ = [](const void* run) { (*static_cast<const Errand*>(run))(); };
    call_probe(jni, number);
  }
  // True: the native method was called for an errand, and it has been run. [app]
  bool run_errand(const JNIEnv* jni) {
    if (errand_thread_.load(std::memory_order_relaxed) != jni) return false;
    run_errand_(errand_);
    return true;
  }

  // True: the calling thread is in a method whose result is reported by a probe in its caller. [app]
  bool is_reported_by_caller() const;

 private:
  static constexpr uint32_t kReportedMethods = 6, kProbeCount = 4;
  void call_probe(JNIEnv* jni, uint32_t number);
  uint32_t skipped(const jvmtiFrameInfo* frames, uint32_t count) const;
  bool is_probe(jmethodID method) const;

  Services services_;
  jvmtiEnv* jvmti_ = nullptr;
  jmethodID probes_[kProbeCount] = {};
  jmethodID object_init_ = nullptr;
  jmethodID reported_[kReportedMethods] = {};
  std::atomic<uint32_t> depth_{0};
  std::atomic<const JNIEnv*> errand_thread_{
      nullptr};  // that calls a probe for an errand; the next two are its own
  const void* errand_ = nullptr;
  void (*run_errand_)(const void* errand) = nullptr;
};

}  // namespace hprof::sites
