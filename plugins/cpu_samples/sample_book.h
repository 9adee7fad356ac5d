// Turns raw stacks into traces, and counts samples by trace.
#pragma once

#include <cstdint>

#include <hprof/cpp/labels.hpp>
#include <hprof/cpp/lock.hpp>

#include "sample_events.h"
#include "sample_queue.h"
#include "trace_counts.h"
#include "virtual_threads.h"
#include "walk_result.h"

namespace hprof::samples {

class SampleBook {
 public:
  // depth: the most frames of a stack. Keeps earlier counts. [control]
  hprof_status open(const Services& services, uint32_t depth);
  void close();
  void clear();  // forgets the counts

  // When the agent's tables are full, a sample counts under the trace JVM.no_memory_for_the_trace, which
  // open() has made; if there was no memory for that either, under the empty trace.

  // Samples of a thread with labels are counted apart, by set.

  // Counts a stack, innermost frame first, count >= 1. Its trace has the thread with thread=y only. Frames
  // below a virtual thread's entry belong to its carrier and are left out. has_hole: frames of the virtual
  // thread are missing; a synthetic frame stands for them. outside: one more frame, called by the first (0:
  // none). Returns whether the trace has that synthetic frame. [consumer]
  bool add_stack(void* jni, const SampleHead& head, const hprof_raw_frame* frames, uint32_t count,
                 uint64_t weight, bool has_hole = false, hprof_frame_id outside = 0);
  // The frame of code outside of Java methods; in_call: at a system call. [consumer]
  hprof_frame_id outside_frame(const hprof_native_name& name, bool in_call) const;
  // Counts samples that have no stack, under a synthetic frame. [consumer]
  void add_reason(const SampleHead& head, Reason reason, uint64_t weight);
  // Counts how the stacks of samples were found.
  void add_found(Found found, uint64_t weight) { found_[static_cast<uint32_t>(found)] += weight; }
  // Counts what ran the innermost frame: HPROF_FRAME_...
  void add_kind(uint32_t kind, uint64_t weight) { kinds_[kind % HPROF_FRAME_KINDS] += weight; }
  // The same in two steps: trace_of makes the trace, with `last` and `first` as frames at its ends (0: none;
  // then *has_hole has one as last, and is set to whether it has); add counts it, any number of times.
  // [consumer]
  hprof_trace_serial trace_of(void* jni, hprof_thread_serial thread, const hprof_raw_frame* frames,
                              uint32_t count, hprof_frame_id last, hprof_frame_id first = 0,
                              bool* has_hole = nullptr);
  hprof_trace_serial trace_of(hprof_thread_serial thread, Reason reason, hprof_frame_id last) const;
  void add(const SampleHead& head, hprof_trace_serial trace, uint64_t weight);
  // What is added in between was drawn together, neighbours that are often alike: effective_samples() takes
  // them for one sample. [consumer]
  void begin_draw() { in_draw_ = true; }
  void end_draw();

  // The trace of one synthetic frame JVM.<method>, without a thread. [control]
  hprof_trace_serial synthetic_trace(const char* method) const;

  const TraceCounts& counts() const { return counts_; }
  uint64_t total() const { return total_; }
  uint64_t samples() const { return samples_; }  // number of samples, whatever their weight
  // The number of samples of equal weight that would be as accurate (Kish's effective sample size).
  uint64_t effective_samples() const;
  uint64_t by_found(Found found) const { return found_[static_cast<uint32_t>(found)]; }
  uint64_t by_kind(uint32_t kind) const { return kinds_[kind]; }
  uint64_t by_other_labels() const { return other_labels_; }
  uint64_t by_reason(Reason reason) const { return reasons_[reason]; }
  uint32_t depth() const { return depth_; }
  Labels labels;
  SampleEvents events;  // what is counted is passed on to it
  VirtualThreads virtual_threads;
  // Lock of the book: one agent thread at a time uses it. The engine's thread skips its work when it is
  // taken, the control thread waits.
  Lock lock;

 private:
  uint32_t below_continuation(const hprof_frame_id* frames, uint32_t count, bool* has_hole) const;
  hprof_trace_serial or_lost(hprof_trace_serial trace) const { return trace != 0 ? trace : lost_trace_; }

  const Services* services_ = nullptr;
  TraceCounts counts_;
  hprof_frame_id* frames_ = nullptr;  // room for depth_ and one at each end
  uint32_t depth_ = 0;
  hprof_trace_serial lost_trace_ = 0;
  hprof_frame_id probe_ = 0;  // the core's frame of the agent's probes
  hprof_frame_id hole_ = 0;   // stands for a virtual thread's frames that are in the heap
  bool has_continuations_ = false;
  uint64_t total_ = 0, samples_ = 0;
  double squares_ = 0;  // sum of the squares of the weights
  bool in_draw_ = false;
  uint64_t drawn_ = 0;         // sum of the weights of this draw
  uint64_t other_labels_ = 0;  // samples of labels:other
  uint64_t reasons_[kReasonCount] = {};
  uint64_t found_[kFoundCount] = {};
  uint64_t kinds_[HPROF_FRAME_KINDS] = {};
};

}  // namespace hprof::samples
