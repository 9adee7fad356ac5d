// Looks at random moments: a thread of ours that reads the CPU clocks of the threads that have been running
// lately, and sends a signal to those that used CPU since their last look. What a look weighs is the CPU time
// since the last one, in intervals; rounding is carried on, so that the weights add up to the CPU time.
//
// Timers on CPU clocks are looked at by the kernel at its own tick, and fall into step with programs that do;
// random moments do not, however long the program's rounds are.
//
// A signal takes a while from one processor to another, but a thread that enters and leaves the kernel
// meanwhile takes it there: system calls would have more looks than time. Such a look is too early, and is
// sent once more at once. So what is seen is the code that runs so much later, the time of a signal's way.
//
// A thread that is blocked is not signalled: that could end a system call of the program's. One that waits
// for a processor is passed by as a rule: see looker.cpp. Builds with HPROF_EMBEDDED have none of it
// (looker_none.cpp).
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/collector.h>

#include "plugins/cpu_samples/engine.h"
#include "plugins/cpu_samples/moments.h"

namespace hprof::samples {

class Looker {
 public:
  // Who is told of CPU time that no stack can be had for. [control][app], the looker's thread
  using Unseen = void (*)(void* owner, hprof_thread_serial serial, uint32_t ticks);

  Looker(Shared* shared, Unseen unseen, void* owner) : shared_(shared), unseen_(unseen), owner_(owner) {}

  // False, with *why a static text: the platform has no looks. [control]
  bool is_possible(const char** why) const;
  // False, with *why a static text: no memory, or no thread can be had. [control]
  bool start(const char** why);
  // False: its thread does not end. [control]
  bool stop();
  void close();  // after stop [control]

  // A thread with a place that is new: its CPU time counts from now on. [app][control]
  void add(SampledThread* place);
  // It ends, or is not looked at any more: what it used since its last look is told as unseen. Before its
  // place is given back. [app][control]
  void remove(SampledThread* place, hprof_thread_serial serial);
  // The weight of the look that this signal is; 0: somebody else had it. [signal]
  static uint32_t take_ticks(SampledThread* place) {
    return place->look.exchange(0, std::memory_order_relaxed);
  }
  // The look of that weight, which came where `left_a_call` says, is too early: it is not to be counted.
  // [signal]
  bool is_early(SampledThread* place, uint32_t ticks, bool left_a_call);

 private:
  // A thread that was seen to use CPU lately.
  struct Running {
    uint32_t place;  // number
    hprof_thread_serial serial;
    uint64_t moved_ns;  // when its clock was seen to move
  };
  static constexpr uint32_t kMostRunning = 4096;
  static constexpr uint32_t kMostAwaited = 32;

  static void loop(void* argument, void* jni, hprof_agent_thread* thread);
  uint64_t next_pause();
  void look_around(uint64_t now);
  void take_new(uint64_t now);
  void sweep(uint64_t now);
  bool has_moved(SampledThread* place, hprof_thread_serial serial, uint64_t cpu);
  bool look_at(Running& running, uint64_t now);
  bool is_met(const SampledThread& place, uint64_t* cpu) const;
  bool is_passed_by(const SampledThread& place, uint64_t now) const;
  void look(const Running& running, uint64_t cpu, uint64_t now);
  uint64_t cpu_time(const SampledThread& place) const;
  void send(const Running& running, uint32_t ticks, uint64_t cpu, bool is_met);
  void await_early();
  void run_on(uint32_t number, hprof_thread_serial serial, uint64_t now);

  Shared* const shared_;
  const Unseen unseen_;
  void* const owner_;
  hprof_agent_thread* thread_ = nullptr;
  Running* running_ = nullptr;  // the looker's thread's own, as all below
  uint32_t running_count_ = 0;
  uint32_t running_next_ = 0;  // where the next turn begins
  uint32_t sweep_next_ = 1;    // number of a place
  uint64_t swept_ns_ = 0;
  RandomMoments moments_;
  uint64_t turn_ns_ = 0;                // what the last turn took
  uint64_t met_ns_ = 0;                 // when a thread was met on a processor last
  Running awaited_[kMostAwaited] = {};  // looks that may come too early
  uint32_t awaited_count_ = 0;
  std::atomic<uint64_t> way_ns_{0};  // how long a signal takes, on the average of the last ones; 0: not known
};

}  // namespace hprof::samples
