// Counts the wall-clock engine's samples of platform threads.
//
// A sample of a thread weighs the time since the last one of it, in intervals; the rounding error is carried
// over. So a thread's samples add up to its lifetime, however few they are. The time between the last sample
// of a thread and its end is a row of its own.
//
// The time in which the JDK's own threads wait, without a frame of the program, is not in the table, unless
// threads= chooses them.
#pragma once

#include <cstdint>
#include <jvmti.h>

#include "engine.h"
#include "java_state.h"
#include "wall_threads.h"

namespace hprof::samples {

// Statistics for the report's note.
struct WallFacts {
  uint64_t turns;         // wake-ups, each for some or all threads
  uint64_t samples;       // of threads
  uint64_t stacks;        // those for which a stack was taken
  uint64_t stops;         // safepoints for stacks
  uint64_t spent_ns;      // CPU time, and the time of those safepoints
  uint32_t most_threads;  // the most threads at a time
  uint64_t idle_ns;       // of the JDK's own threads, left out of the table
  uint64_t idle;          // at the report: the same in samples ...
  uint64_t counted;       // ... and those in the table
  uint64_t drawn;         // samples of virtual threads without a carrier
  uint64_t in_sets;       // virtual threads found in the VM's sets, summed over the turns
  uint64_t drawn_error;   // at the report: DrawnTime::error
  bool finds_virtual;     // the VM keeps sets of them
};

// The frame of a method in a raw stack.
hprof_frame_id frame_of(const Services& s, JNIEnv* jni, const jvmtiFrameInfo& frame);

// Frames asked for of the JDK's own threads: their stacks are shorter while they wait for work.
constexpr uint32_t kOwnDepth = 48;

// Used by the holder of the book's lock.
class WallCounts {
 public:
  void open(Shared* shared);  // [control]

  // Frames to ask for of a thread.
  static uint32_t most_frames(const WallThread& thread) {
    return thread.of_jdk && thread.depth < kOwnDepth ? kOwnDepth : thread.depth;
  }
  // Counts a stack that was just taken. is_mounted: it is that of a virtual thread, which the thread runs.
  void add_stack(JNIEnv* jni, WallThread& thread, hprof_thread_serial serial, const jvmtiStackInfo& stack,
                 bool is_mounted);
  // Counts the stack of the thread's last sample once more.
  void add(WallThread& thread, hprof_thread_serial serial);
  // Counts the time from the thread's last sample to its end.
  void add_end(const WallThread& thread, hprof_thread_serial serial) {
    if (thread.sampled.load(std::memory_order_relaxed) != 0) {
      rest_ns_ += thread.open_ns;
      const uint64_t unseen = thread.ended_ns > thread.seen_ns ? thread.ended_ns - thread.seen_ns : 0;
      if (thread.is_idle) facts.idle_ns += unseen;
      if (!thread.is_idle) rest_ns_ += static_cast<int64_t>(unseen);
    }
    const auto interval = static_cast<int64_t>(shared_->interval_ns);
    if (rest_ns_ < interval) return;
    shared_->book.add_reason({serial, shared_->book.events.now(), HPROF_STATE_UNKNOWN}, kNotSampled,
                             static_cast<uint64_t>(rest_ns_ / interval));
    rest_ns_ %= interval;
  }
  // Forgets what is counted.
  void clear() {
    rest_ns_ = 0;
    facts = {};
  }
  // The frame that names a state.
  hprof_frame_id frame_of(JavaState state) const { return states_[static_cast<uint32_t>(state)]; }

  // Copies the statistics for write_note. [control]
  void keep_facts();
  // stops_vm: to take a stack stops the VM. [control]
  hprof_status write_note(jvmtiEnv* jvmti, uint64_t watched_ns, bool stops_vm) const;

  WallFacts facts = {};

 private:
  Shared* shared_ = nullptr;
  hprof_frame_id states_[kJavaStates] = {};
  int64_t rest_ns_ = 0;  // time of ended threads that is not in the samples yet
  WallFacts kept_ = {};
};

}  // namespace hprof::samples
