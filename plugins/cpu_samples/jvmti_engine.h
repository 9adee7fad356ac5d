// Samples by JVMTI, for any OS and any VM: a thread of the agent's own looks at the threads at random
// moments, half to one and a half intervals apart: which have used CPU time since the last look? It takes the
// stacks of those that are running.
//
// A thread's CPU time is charged to its samples without loss: a sample weighs as many whole intervals as its
// thread has used since its last one; the rest is carried over. A thread that is blocked at a look (parked,
// in epoll or accept) gets no sample; its time is charged at the next look that finds it running, or else
// counts as JVM.not_seen_running, as does the time between the last look and the thread's end.
//
// It also samples the threads for which the signal engine has no timer.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/collector.h>

#include "engine.h"
#include "moments.h"
#include "mounted_threads.h"

namespace hprof::samples {

class JvmtiEngine : public Engine {
 public:
  using Engine::Engine;

  hprof_status start(const char** why) override {
    respect_clock();
    return start_for(Whose::kAll, why);
  }
  enum class Whose : uint32_t { kAll, kHandedOver };  // the threads that it samples
  hprof_status start_for(Whose whose, const char** why);
  void stop() override;
  bool is_stuck() const override { return looker_stuck_; }
  void close() override;
  void thread_start(JNIEnv* jni, hprof_thread* thread) override;
  void thread_end(hprof_thread* thread) override;
  // Counts the time of threads between the last look and their end.
  void settle() override;

  // Starts to sample a thread at the CPU time `cpu` (UINT64_MAX: not known). False: it has ended.
  // [app][control]
  bool take_over(SampledThread* place, hprof_thread_serial serial, uint64_t cpu);
  void let_go(SampledThread* place, hprof_thread_serial serial, uint64_t os_id);  // at its end [app][control]

 private:
  // A thread that used at least an interval of CPU time.
  struct Candidate {
    jthread thread;  // local reference: of the mounted virtual thread, if there is one
    jthread carrier;
    SampledThread* place;
    hprof_thread_serial serial;
    uint64_t os_id;
    uint64_t cpu;     // its CPU clock at the look
    uint64_t weight;  // in intervals
    bool counted;
  };
  static constexpr uint32_t kMostCandidates = 256;
  // After this many intervals of CPU time without being found running, a thread's time counts as
  // not_seen_running.
  static constexpr uint64_t kPatience = 32;

  void respect_clock();
  uint64_t use(SampledThread* place, hprof_thread_serial serial, uint64_t cpu) const;
  uint64_t take(SampledThread* place, hprof_thread_serial serial, uint64_t cpu, jthread* ref);
  bool take_back(const Candidate& candidate, bool had_book);
  static void loop(void* argument, void* jni, hprof_agent_thread* thread);
  // The thread's place; a new one starts with this CPU time. [app][control]
  SampledThread* meet(hprof_thread* thread, uint64_t cpu);
  static uint32_t visit_new(void* argument, hprof_thread* thread, void* jthread_ref);
  static uint32_t visit(void* argument, hprof_thread* thread, void* jthread_ref);
  void look(JNIEnv* jni);
  bool is_running(const Candidate& candidate);
  void take_stacks(JNIEnv* jni);
  void count(JNIEnv* jni, Candidate* candidate, const jvmtiFrameInfo* frames, jint count, jvmtiError error);
  void charge_later(bool has_book);
  uint64_t cpu_time(uint64_t os_id, jthread thread) const;

  jvmtiEnv* jvmti_ = nullptr;
  MountedThreads mounted_;
  hprof_agent_thread* looker_ = nullptr;
  RandomMoments moments_;  // used by the engine's thread only
  JNIEnv* jni_ = nullptr;  // of the engine's thread, during a look
  Candidate* candidates_ = nullptr;
  uint32_t candidate_count_ = 0;
  jvmtiFrameInfo* frames_ = nullptr;
  uint32_t depth_ = 0;  // room in frames_
  uint64_t* lost_threads_ = nullptr;
  bool looker_stuck_ = false;
  std::atomic<uint64_t> rest_{0};                    // intervals without a stack, to be counted
  std::atomic<hprof_thread_serial> rest_thread_{0};  // the thread of the last of them
};

}  // namespace hprof::samples
