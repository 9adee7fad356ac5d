// Samples by JVMTI, for any OS and any VM. At random moments, half to one and a half intervals apart, a
// thread of the agent's own reads the CPU clocks of all threads (a round), and takes the stacks of those that
// have used an interval of CPU time since their last sample and are running.
//
// A thread's CPU time is charged to its samples without loss: a sample weighs as many whole intervals as its
// thread has used since its last one; the rest is carried over. A thread that is blocked in a round (parked,
// in epoll or accept) gets no sample; its time is charged in the next round that finds it running, or else
// counts as JVM.not_seen_running, as does the time between the last round and the thread's end.
//
// It also samples the threads for which the signal engine has no timer.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/random_moments.hpp>

#include "engine.h"
#include "mounted_threads.h"

namespace hprof::samples {

class JvmtiEngine : public Engine {
 public:
  using Engine::Engine;

  hprof_status start(const char** why) override {
    raise_interval();
    return start_for(Whose::kAll, why);
  }
  enum class Whose : uint32_t { kAll, kHandedOver };  // the threads that it samples
  hprof_status start_for(Whose whose, const char** why);
  void stop() override;
  bool is_stuck() const override { return sampler_stuck_; }
  void close() override;
  void thread_start(JNIEnv* jni, hprof_thread* thread) override;
  void thread_end(hprof_thread* thread) override;
  // Counts the time of threads between the last round and their end.
  void settle() override;

  // Starts to sample a thread at the CPU time `cpu` (UINT64_MAX: not known). False: it has ended.
  // [app][control]
  bool take_over(SampledThread* entry, hprof_thread_serial serial, uint64_t cpu);
  // Stops sampling a thread. [app][control]
  void let_go(SampledThread* entry, hprof_thread_serial serial, uint64_t os_id);

 private:
  // A thread that used at least an interval of CPU time.
  struct Candidate {
    jthread thread;  // local reference: of the mounted virtual thread, if there is one
    jthread carrier;
    SampledThread* entry;
    hprof_thread_serial serial;
    uint64_t os_id;
    uint64_t cpu;     // its CPU clock in the round
    uint64_t weight;  // in intervals
    bool counted;
  };
  static constexpr uint32_t kMostCandidates = 256;
  // After this many intervals of CPU time without being found running, a thread's time counts as
  // not_seen_running.
  static constexpr uint64_t kPatience = 32;

  void raise_interval();
  uint64_t record_cpu(SampledThread* entry, hprof_thread_serial serial, uint64_t cpu) const;
  uint64_t charge(SampledThread* entry, hprof_thread_serial serial, uint64_t cpu, jthread* ref);
  bool uncharge(const Candidate& candidate, bool had_book);
  static void loop(void* argument, void* jni, hprof_agent_thread* thread);
  // The thread's entry; a new one starts with this CPU time. [app][control]
  SampledThread* entry_of(hprof_thread* thread, uint64_t cpu);
  static uint32_t visit_new(void* argument, hprof_thread* thread, void* jthread_ref);
  static uint32_t visit(void* argument, hprof_thread* thread, void* jthread_ref);
  void sample_threads(JNIEnv* jni);
  bool is_running(const Candidate& candidate);
  void take_stacks(JNIEnv* jni);
  void count(JNIEnv* jni, Candidate* candidate, const jvmtiFrameInfo* frames, jint count, jvmtiError error);
  void carry_over(bool has_book);
  uint64_t cpu_time(uint64_t os_id, jthread thread) const;
  bool has_ended(jthread thread) const;

  jvmtiEnv* jvmti_ = nullptr;
  MountedThreads mounted_;
  hprof_agent_thread* sampler_ = nullptr;
  RandomMoments moments_;  // used by the engine's thread only
  JNIEnv* jni_ = nullptr;  // of the engine's thread, during a round
  Candidate* candidates_ = nullptr;
  uint32_t candidate_count_ = 0;
  jvmtiFrameInfo* frames_ = nullptr;
  uint32_t depth_ = 0;  // room in frames_
  uint64_t* lost_threads_ = nullptr;
  bool sampler_stuck_ = false;
  std::atomic<uint64_t> rest_{0};                    // intervals without a stack, to be counted
  std::atomic<hprof_thread_serial> rest_thread_{0};  // the thread of the last of them
};

}  // namespace hprof::samples
