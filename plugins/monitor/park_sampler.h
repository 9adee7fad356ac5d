// Contention on the locks of java.util.concurrent, sampled: the VM has no event for it.
//
// An agent thread samples the platform threads at intervals. A thread parked with a subclass of
// AbstractOwnableSynchronizer as its blocker waits for that lock, and is charged the time since the previous
// sample. CountDownLatch does not count: waiting for an event is no contention.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/services.hpp>

#include "blame.h"
#include "blocked_stacks.h"
#include "contention_table.h"
#include "holders.h"
#include "monitor_events.h"
#include "parked_locks.h"

namespace hprof::monitor {

class ParkSampler {
 public:
  static constexpr uint32_t kMostParked = 4096;  // threads parked on locks in a sample
  // Bytes that start takes.
  static constexpr uint64_t kLeastMemory = 4 * kMostParked * 12 + ContentionTable::kLeastMemory;

  hprof_status start(const Services& services, jvmtiEnv* jvmti, ParkedLocks* locks, BlockedStacks* stacks,
                     Holders* holders, Blame* blame, const MonitorEvents* events, uint64_t interval_ns);
  void stop();   // a barrier
  void close();  // after stop; not when stuck
  bool is_stuck() const { return stuck_; }
  void reset();  // [control]

  // Copies the rows for the report. [control]
  uint64_t rows_in_use() const { return table_.rows_in_use(); }
  template <class Visit>
  void each(const Visit& visit) const {
    table_.each([&](hprof_monitor_row row) {
      row.label = label_;
      visit(row);
    });
  }
  uint64_t samples() const { return samples_.load(std::memory_order_relaxed); }

 private:
  // A thread and its lock in a sample: open addressing by thread, twice as many entries as threads.
  struct Parked {
    hprof_thread_serial thread;  // 0: free
    jint lock;                   // identity hash
    hprof_trace_serial trace;
  };
  static constexpr uint32_t kEntries = 2 * kMostParked;
  static_assert(2 * kEntries * sizeof(Parked) == 4 * kMostParked * 12, "see kLeastMemory");

  static void loop(void* argument, void* jni, hprof_agent_thread* thread);
  void sample(JNIEnv* jni);
  static uint32_t visit(void* argument, hprof_thread* thread, void* jthread_ref);
  void charge(hprof_thread_serial serial, jthread thread, jobject lock, jobject owner);
  void add_holder(const Parked& now, hprof_class_serial monitor, jobject owner);
  bool was_there(const Parked& now) const;
  void add_parked(const Parked& now);
  hprof_trace_serial trace_of(hprof_thread_serial serial, jthread thread);

  Services services_;
  jvmtiEnv* jvmti_ = nullptr;
  JNIEnv* jni_ = nullptr;  // of the sampling thread
  const ParkedLocks* locks_ = nullptr;
  BlockedStacks* stacks_ = nullptr;
  Holders* holders_ = nullptr;
  Blame* blame_ = nullptr;  // open
  const MonitorEvents* events_ = nullptr;
  uint64_t interval_ns_ = 0;
  hprof_agent_thread* sampler_ = nullptr;
  bool stuck_ = false;
  bool open_ = false;
  ContentionTable table_;
  Parked* before_ = nullptr;
  Parked* now_ = nullptr;
  uint32_t parked_ = 0;  // entries of now_
  uint64_t last_sample_ns_ = 0;
  uint64_t charged_ns_ = 0;  // in this sample
  std::atomic<uint64_t> samples_{0};
  uint64_t* lost_ = nullptr;
  hprof_string_id label_ = 0;
};

}  // namespace hprof::monitor
