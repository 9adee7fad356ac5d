// The stack of an interrupted thread: hprof's own walk (hprof.draft.walk) once it has proved itself in this
// VM, or AsyncGetCallTrace.
//
// The own walk's answer is the stack up to its root, or none. AsyncGetCallTrace answers for those, and for
// comparison: every stack until kProof were alike, and one in kCompareEvery later. Stacks whose caller was a
// guess are not compared, since AsyncGetCallTrace guesses there, too, or has none. It ends at the
// callee of a frame that waits for deoptimization; so far both have to agree.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/services.hpp>
#include <hprof/draft/walk.h>

#include "sample_queue.h"

namespace hprof::samples {

// HotSpot's ASGCT_CallTrace.
struct AsyncTrace {
  void* env;            // JNIEnv* of the thread
  int32_t frame_count;  // in: unused; out: frames, or <= 0: a reason
  hprof_async_frame* frames;
};

// hprof's own walk is in the core's module hotspot.
#ifdef HPROF_NO_HOTSPOT_MODULE
constexpr bool kHasWalk = false;
#else
constexpr bool kHasWalk = true;
#endif

class StackWalker {
 public:
  // [onload]
  void open(const Services& services);
  // Looks for AsyncGetCallTrace, and opens the own walk. Returns why there is none; null: found. [control]
  const char* start();
  bool has_function() const { return function_ != nullptr; }
  // Fills in the frames of a sample of the calling thread, or the reason why there are none. [signal]
  void walk(Sample* sample, void* jni, uint32_t depth, void* ucontext);
  // No signal is handled any more. [control]
  void close();
  // True: the own walk has answered, or may yet. [any]
  bool has_own() const { return own() != nullptr; }
  // True: the own walk was used, until its stacks differed from the VM's. [any]
  bool has_given_up() const { return kHasWalk && opened_ != nullptr && own() == nullptr; }
  // Names the code that a sample has outside of Java methods. [consumer]
  void name_outside(const Sample& sample, hprof_native_name* name) const {
    walk_service_->name_outside(services_.host, opened_, sample.outside, name);
  }
  // Call it now and then: it ends the use of the own walk, if that differs from the VM. [control]
  void judge();

 private:
  using AsyncGetCallTrace = void (*)(AsyncTrace* trace, int32_t depth, void* ucontext);
  static constexpr uint32_t kProof = 4;
  static constexpr uint32_t kCompareEvery = 64;
  // Differences allowed: kFewDifferent, and one for each kAlikePerDifferent alike stacks.
  static constexpr uint32_t kFewDifferent = 8, kAlikePerDifferent = 16;
  hprof_sample_walk* own() const { return kHasWalk ? own_.load(std::memory_order_relaxed) : nullptr; }
  bool has_proved() const;
  bool is_refuted() const;
  bool walk_by_frames(const hprof_sample_walk* own, Sample* sample, void* jni, uint32_t depth, void* ucontext,
                      hprof_interrupted_stack* stack) const;
  void walk_by_vm(Sample* sample, void* jni, uint32_t depth, void* ucontext);
  void walk_from_caller(Sample* sample, void* jni, uint32_t depth, void* ucontext);

  Services services_;
  const hprof_walk_service* walk_service_ = nullptr;
  AsyncGetCallTrace function_ = nullptr;
  hprof_sample_walk* opened_ = nullptr;
  std::atomic<hprof_sample_walk*> own_{nullptr};   // the same until it is distrusted
  std::atomic<uint32_t> alike_{0}, different_{0};  // stacks that were compared
  std::atomic<uint32_t> turn_{0};
};

}  // namespace hprof::samples
