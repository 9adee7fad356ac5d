// The stack of an allocation, asked of the VM, and its trace.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/services.hpp>

namespace hprof::sites {

class Stacks {
 public:
  static constexpr uint32_t kMostFrames = 512;  // a deeper stack is cut there

  // Finds the methods that no trace shows: the probes' own, and Object.<init>. [control]
  bool open(const Services& services, JNIEnv* jni, bool has_probes);
  void set_depth(uint32_t depth) { depth_.store(depth < kMostFrames ? depth : kMostFrames); }
  uint32_t depth() const { return depth_.load(std::memory_order_relaxed); }

  // Frames of the calling thread, without those on top that belong to a probe; at most depth(). [app]
  uint32_t of_current(jvmtiFrameInfo* frames) const;
  // Their trace; 0: no room. [app] the thread whose frames they are
  hprof_trace_serial trace(JNIEnv* jni, uint32_t thread, const jvmtiFrameInfo* frames, uint32_t count) const;
  static uint64_t hash(const jvmtiFrameInfo* frames, uint32_t count);
  // A trace of one frame JVM.<name>.
  hprof_trace_serial stand_in(uint32_t thread, const char* name) const;

  // Calls one of the methods that no trace shows, 0 to kProbeMethods - 1. [control]
  static constexpr uint32_t kProbeMethods = 5;
  void call_probe(JNIEnv* jni, uint32_t number) const;

  // The Method* of a method on the calling thread's stack, where jmethodIDs are pointers to them. [app]
  static uint64_t method_behind(jmethodID method) { return *reinterpret_cast<const uintptr_t*>(method); }
  // Whether they are: the Method* of call_probe()'s methods are these. May only be asked up to Java 25.
  // [control]
  bool are_pointers(const uint64_t* methods) const;

  // The calling thread is in a method whose result a probe in its caller has told, or tells next. [app]
  bool is_told_by_caller() const;

 private:
  static constexpr uint32_t kToldMethods = 6;
  uint32_t skipped(const jvmtiFrameInfo* frames, uint32_t count) const;
  bool is_probe(jmethodID method) const;

  Services services_;
  jvmtiEnv* jvmti_ = nullptr;
  jmethodID probes_[kProbeMethods] = {};
  jmethodID object_init_ = nullptr;
  jmethodID told_[kToldMethods] = {};
  std::atomic<uint32_t> depth_{0};
};

}  // namespace hprof::sites
