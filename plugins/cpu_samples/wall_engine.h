// Samples by wall-clock time: at random moments an agent thread (the sampler thread) asks the VM for the
// threads' states and stacks, running or not. It sends no signals, so no system call of the program ends
// early.
//
// A look at a thread weighs the time since the last look at it, in intervals; the rounding error is carried
// over. So a thread's samples add up to its lifetime, however few looks there were: a turn (one wake-up of
// the sampler thread) covers as many threads as it has time for, the next turn the next ones. The time
// between the last look at a thread and its end is a row of its own.
//
// The time in which the JDK's own threads wait, without a frame of the program, is not in the table, unless
// threads= chooses them.
//
// If a thread's CPU clock has not advanced since the last look, its stack is the same and is not taken again.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/random_moments.hpp>

#include "engine.h"
#include "java_state.h"
#include "mounted_threads.h"
#include "waiting_threads.h"
#include "wall_threads.h"

namespace hprof::samples {

// Statistics for the report's note.
struct WallFacts {
  uint64_t turns;         // wake-ups, each for some or all threads
  uint64_t looks;         // at a thread
  uint64_t stacks;        // looks that took a stack
  uint64_t stops;         // safepoints for stacks
  uint64_t spent_ns;      // CPU time, and the time of those safepoints
  uint32_t most_threads;  // the most threads at a time
  uint64_t idle_ns;       // of the JDK's own threads, left out of the table
  uint64_t idle;          // at the report: the same in samples ...
  uint64_t counted;       // ... and those in the table
  uint64_t drawn;         // looks at virtual threads without a carrier
  uint64_t in_sets;       // virtual threads found in the VM's sets, summed over the turns
  bool finds_virtual;     // the VM keeps sets of them
};

class WallEngine : public Engine {
 public:
  using Engine::Engine;

  hprof_status start(const char** why) override;
  void stop() override;
  bool is_stuck() const override { return stuck_; }
  void close() override;
  void thread_start(JNIEnv* jni, hprof_thread* thread) override;
  void thread_end(hprof_thread* thread) override;
  bool switch_sampling(hprof_object_id object, bool on) override;
  // Counts the threads that have ended, and copies the statistics for write_note.
  void settle() override;
  void forget() override;
  hprof_status write_note(uint64_t watched_ns) const override;

 private:
  // A thread that has run since its last look; where looks stop the VM, all stacks are taken together.
  struct Candidate {
    WallThread* place;
    hprof_thread_serial serial;
  };
  static constexpr uint32_t kMostTogether = 64;

  static void loop(void* argument, void* jni, hprof_agent_thread* thread);
  static uint32_t visit_new(void* argument, hprof_thread* thread, void* jthread_ref);
  void add(JNIEnv* jni, hprof_thread* thread, jthread reference);
  bool is_of_jdk(const hprof_thread& thread) const;
  static uint32_t most_frames(const WallThread& place);
  bool is_idle(JNIEnv* jni, JavaState java, const jvmtiStackInfo& stack) const;
  uint64_t next_pause();
  void look_around(JNIEnv* jni);
  void look_at_waiting(JNIEnv* jni);
  static void visit_waiting(void* argument, JNIEnv* jni, jthread thread, double stands_for);
  void pay(uint64_t spent_ns);
  uint32_t look(JNIEnv* jni, WallThread& place);
  bool stands_still(const WallThread& place, uint64_t cpu, uint32_t depth) const;
  bool take_ended(JNIEnv* jni, WallThread& place);
  void take_stack(JNIEnv* jni, WallThread& place, hprof_thread_serial serial);
  void take_together(JNIEnv* jni);
  void count_stack(JNIEnv* jni, WallThread& place, hprof_thread_serial serial, const jvmtiStackInfo& stack,
                   bool is_mounted);
  void count(WallThread& place, hprof_thread_serial serial);
  void let_all_go(JNIEnv* jni);
  uint64_t own_cpu() const;

  jvmtiEnv* jvmti_ = nullptr;
  hprof_agent_thread* sampler_ = nullptr;
  std::atomic<uint32_t> running_{0};
  bool stuck_ = false;
  bool stops_vm_ = false;  // a look at any thread stops the VM (before JDK 16)
  uint64_t* lost_threads_ = nullptr;
  WallThreads threads_;
  MountedThreads mounted_;
  // Used by the sampler thread only:
  hprof_frame_id states_[kJavaStates] = {};
  RandomMoments moments_;
  uint32_t next_ = 1;        // number of the place to look at next
  uint32_t most_looks_ = 0;  // in a turn
  uint64_t spent_ns_ = 0;    // mean length of the last turns
  uint64_t stop_ns_ = 0;     // length of this turn's safepoints
  uint64_t usual_stop_ns_ = 0;
  int64_t rest_ns_ = 0;  // time of ended threads that is not in the samples yet
  WaitingThreads waiting_;
  uint64_t waiting_seen_ns_ =
      0;  // the time of virtual threads up to here is in the samples, or in waiting_open_
  uint64_t waiting_for_ns_ = 0;  // what this turn's looks at them stand for
  double waiting_open_ns_ = 0;   // rounding error
  uint64_t waiting_count_ = 0;   // of the last turn
  Candidate together_[kMostTogether];
  uint32_t together_count_ = 0;
  WallFacts facts_ = {};
  WallFacts kept_facts_ = {};  // used by the control thread only
};

}  // namespace hprof::samples
