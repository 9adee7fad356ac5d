// Samples by wall-clock time: at random moments an agent thread (the sampler thread) asks the VM for the
// threads' states and stacks, running or not. It sends no signals, so no system call of the program ends
// early.
//
// A turn (one wake-up of the sampler thread) samples as many threads as it has time for, the next turn the
// next ones: WallTurns. WallCounts weighs and counts the samples, WallVirtual draws virtual threads that
// wait.
//
// If a thread's CPU clock has not advanced since its last sample, its stack is the same and is not taken
// again.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/collector.h>

#include "engine.h"
#include "mounted_threads.h"
#include "wall_counts.h"
#include "wall_threads.h"
#include "wall_turns.h"
#include "wall_virtual.h"

namespace hprof::samples {

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
  // A thread that has run since its last sample; where samples stop the VM, all stacks are taken together.
  struct Candidate {
    WallThread* thread;
    hprof_thread_serial serial;
  };
  static constexpr uint32_t kMostTogether = 64;

  static void loop(void* argument, void* jni, hprof_agent_thread* thread);
  static uint32_t visit_new(void* argument, hprof_thread* thread, void* jthread_ref);
  void add(JNIEnv* jni, hprof_thread* thread, jthread reference);
  bool is_of_jdk(const hprof_thread& thread) const;
  void turn(JNIEnv* jni);
  uint32_t sample(JNIEnv* jni, WallThread& entry);
  bool stands_still(const WallThread& entry, uint64_t cpu, uint32_t depth) const;
  bool take_ended(JNIEnv* jni, WallThread& entry);
  void take_stack(JNIEnv* jni, WallThread& entry, hprof_thread_serial serial);
  void take_together(JNIEnv* jni);
  void let_all_go(JNIEnv* jni);
  uint64_t own_cpu() const;

  jvmtiEnv* jvmti_ = nullptr;
  hprof_agent_thread* sampler_ = nullptr;
  std::atomic<uint32_t> running_{0};
  bool stuck_ = false;
  bool stops_vm_ = false;  // a sample of any thread stops the VM (before JDK 16)
  uint64_t* lost_threads_ = nullptr;
  WallThreads threads_;
  MountedThreads mounted_;
  // Used by the sampler thread only:
  WallTurns turns_;
  WallVirtual virtual_;
  Candidate together_[kMostTogether];
  uint32_t together_count_ = 0;
  // Used under the book's lock:
  WallCounts counts_;
};

}  // namespace hprof::samples
