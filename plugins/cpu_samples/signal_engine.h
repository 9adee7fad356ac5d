// Samples by signals of a timer on every thread's CPU clock: a walk over its stack in the handler, a queue,
// and an agent thread that drains it soon, while the classes of the stacks are still loaded.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/collector.h>

#include "engine.h"
#include "jvmti_engine.h"
#include "sample_queue.h"
#include "stack_walker.h"

namespace hprof::samples {

class SignalEngine : public Engine {
 public:
  // `other` samples threads without a timer, and all threads where signals stop coming.
  // shows_outside: code outside of Java methods is a frame of its own.
  SignalEngine(const char* name, Shared* shared, JvmtiEngine* other, bool shows_outside)
      : Engine(name, shared), other_(other), shows_outside_(shows_outside) {}

  // Before start. [onload]
  void open() { walker_.open(shared_->services); }
  // Starts a timer on every thread.
  hprof_status start(const char** why) override;
  void stop() override;
  bool is_stuck() const override { return drainer_stuck_; }
  void close() override;
  void thread_start(JNIEnv* jni, hprof_thread* thread) override;
  void thread_end(hprof_thread* thread) override;
  void settle() override;
  void forget() override;
  hprof_status write_note(uint64_t watched_ns) const override;

  // Why the JVMTI engine samples some or all threads, since the start; null: it does not. [any]
  const char* why_jvmti() const { return why_jvmti_.load(std::memory_order_relaxed); }

 private:
  static void on_tick(void* argument, void* timer_argument, void* ucontext, uint32_t ticks);
  static void drain_loop(void* argument, void* jni, hprof_agent_thread* thread);
  static void unseen(void* self, hprof_thread_serial serial, uint32_t ticks);
  static uint32_t visit_thread(void* argument, hprof_thread* thread, void* jthread);
  // Starts or stops the timer of a thread according to its `sampled`. [app][control]
  void apply(SampledThread* thread, hprof_thread_serial serial) override;
  uint64_t before_due(uint64_t wait) const;  // when the CPU timer ticks for a moment
  bool wants_timer(const SampledThread& thread) const;
  void let_go(SampledThread* thread, hprof_thread_serial serial);
  void take_rest(SampledThread* thread, hprof_thread_serial serial, uint64_t cpu);
  void hand_over(SampledThread* thread, hprof_thread_serial serial, uint64_t cpu, const char* why);
  void start_other();
  void watch();
  uint64_t overdue(const SampledThread& thread, uint64_t* cpu) const;
  uint64_t overdue();  // the sum over all threads
  void hand_over_blocked();
  void hand_over_all(const char* why);
  uint64_t cpu_time(const SampledThread& thread) const;
  uint32_t take_due(SampledThread* thread, uint64_t cpu, uint64_t* wait) const;
  uint32_t due(SampledThread* thread, const void* ucontext, uint32_t ticks);
  void set_timers(SampledThread* thread, const void* ucontext, uint64_t cpu, uint64_t wait);
  void sample(SampledThread* thread, void* ucontext, uint32_t ticks);
  Sample* claim(uint32_t ticks);
  void publish(Sample* sample);
  bool open_buffers();
  void stop_drainer();
  void close_queue();
  uint32_t drain(void* jni);  // counts up to kSamplesPerLock samples; returns how many
  void drain_all(void* jni);
  void count(const Sample& sample, void* jni);
  hprof_frame_id outside_frame(const Sample& sample) const;

  JvmtiEngine* const other_;
  const bool shows_outside_;
  const char* try_signals();  // null: signals come and are recognised
  StackWalker walker_;
  SampleQueue queue_;
  hprof_raw_frame* raw_ = nullptr;  // of the sample being counted; room for the queue's depth and one more
  std::atomic<hprof_agent_thread*> drainer_{nullptr};
  std::atomic<uint32_t> running_{0};
  std::atomic<uint32_t> trial_seen_{0};
  std::atomic<uint64_t> calls_ended_{0};
  // How long before a due moment its thread's CPU timer is set: a little more than from one tick of the
  // kernel to the next. 0: there are no timers of moments.
  uint64_t lead_ns_ = 0;
  std::atomic<uint32_t> wake_sent_{0};
  uint64_t* lost_samples_ = nullptr;
  uint64_t* lost_threads_ = nullptr;
  uint64_t* lost_moments_ = nullptr;
  bool drainer_stuck_ = false;
  bool has_requests_ = false;  // the VM has an extension function that walks stacks (JDK-8380294)
  std::atomic<const char*> why_jvmti_{nullptr};
  std::atomic<const char*> why_lost_{nullptr};  // why signals no longer come; null: they do
  std::atomic<uint32_t> signals_seen_{0};       // 1: some have come since the last check
  // Used by the drain thread only: whether it has started the other engine, and the reason that it printed;
  // wake-ups since the last check; silent rounds since the last signal, and the CPU time of the process and
  // overdue() at the end of the last round.
  bool other_started_ = false;
  const char* printed_why_ = nullptr;
  uint32_t wake_ups_ = 0, silent_rounds_ = 0;
  // Checks since the last search for threads that block the signal, and the CPU time of the process then.
  uint32_t checks_ = 0;
  uint64_t searched_cpu_ = 0;
  uint64_t process_cpu_ = 0, overdue_ = 0;
};

}  // namespace hprof::samples
