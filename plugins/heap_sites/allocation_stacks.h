// Gets the stack of an allocation from the VM, and makes its trace.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/labels.hpp>

namespace hprof::sites {

constexpr const char* kTargetClass = "java/lang/HprofObjects";  // java/

// Whom an object is made for: a part of its trace.
struct MadeFor {
  hprof_thread_serial thread = 0;  // 0 unless thread=y
  hprof_string_id labels = 0;      // a set; 0: none

  uint64_t word() const { return uint64_t{thread} << 32 | labels; }
};

class AllocationStacks {
 public:
  static constexpr uint32_t kMostFrames = 512;  // deeper stacks are cut

  // Finds the methods that traces leave out: the probes' own, and Object.<init>. jni = null: there are no
  // probes. [control]
  bool open(const Services& services, JNIEnv* jni);
  void set_depth(uint64_t depth);  // logs a message if that is too deep [control]
  uint32_t depth() const { return depth_.load(std::memory_order_relaxed); }

  // Frames of the calling thread, without those on top that belong to a probe; at most depth(). [app]
  uint32_t of_current(jvmtiFrameInfo* frames) const { return of_current(frames, depth()); }
  uint32_t of_current(jvmtiFrameInfo* frames, uint32_t most) const;
  // The ids of these frames. [app] the thread whose frames they are
  void name(JNIEnv* jni, const jvmtiFrameInfo* frames, uint32_t count, hprof_frame_id* ids) const;
  // The trace of the frames with these ids; 0: no room. [app]
  hprof_trace_serial trace(MadeFor whom, const hprof_frame_id* ids, uint32_t count) const;
  // The trace of raw frames, named first. [app] the thread whose frames they are
  hprof_trace_serial trace(JNIEnv* jni, MadeFor whom, const jvmtiFrameInfo* frames, uint32_t count) const;
  static uint64_t hash(const jvmtiFrameInfo* frames, uint32_t count);
  // The labels of threads. [any]
  Labels& labels() { return labels_; }
  const Labels& labels() const { return labels_; }

  // The methods that traces leave out are numbered from 0 to probe_count() - 1.
  static constexpr uint32_t probe_count() { return kProbeCount + 1; }
  // The jmethodID of such a method.
  const void* probe(uint32_t number) const { return number < kProbeCount ? probes_[number] : object_init_; }
  // Calls such a method; the native method that it calls runs body(). Probes are live. [control]
  template <class Body>
  void call_in_probe(JNIEnv* jni, uint32_t number, const Body& body) {
    body_ = &body;
    run_body_ = [](const void* run) { (*static_cast<const Body*>(run))(); };
    call_probe(jni, number);
  }
  // True: the native method was called by a hidden call, whose body has run now. [app]
  bool run_hidden_call(const JNIEnv* jni) {
    if (hidden_call_thread_.load(std::memory_order_relaxed) != jni) return false;
    run_body_(body_);
    return true;
  }

  // True: a probe in the caller of the current method reports the object that the method returns. [app]
  bool is_reported_by_caller() const;

 private:
  static constexpr uint32_t kReportedMethods = 6, kProbeCount = 4;
  void call_probe(JNIEnv* jni, uint32_t number);
  uint32_t skipped(const jvmtiFrameInfo* frames, uint32_t count) const;
  bool is_probe(jmethodID method) const;

  Services services_;
  Labels labels_;
  jvmtiEnv* jvmti_ = nullptr;
  jmethodID probes_[kProbeCount] = {};
  jmethodID object_init_ = nullptr;
  jmethodID reported_[kReportedMethods] = {};
  std::atomic<uint32_t> depth_{0};
  // JNIEnv of the thread that makes a hidden call; only that thread uses the next two members.
  std::atomic<const JNIEnv*> hidden_call_thread_{nullptr};
  const void* body_ = nullptr;
  void (*run_body_)(const void* body) = nullptr;
};

}  // namespace hprof::sites
