// The table BLAME: where the threads were that held what others waited for, and how long those waited.
//
// The sampler thread of monitor=all (ParkSampler) takes the stacks. The owner of a lock of
// java.util.concurrent is in a field, so each thread that is parked on one is charged in each sample. The VM
// stops all threads to name a monitor's owner: so 20 times a second, at random moments, one of the threads
// that wait to enter a monitor is drawn, and stands for all of them.
//
// A holder goes on while its stack is taken. If it no longer holds the lock then, its stack says nothing: the
// time is charged to JVM.holder_went_on. Where the VM names no holder, it is JVM.unknown_holder.
#pragma once

#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/random_moments.hpp>
#include <hprof/cpp/services.hpp>

#include "blocked_stacks.h"
#include "blocked_threads.h"
#include "contention_table.h"
#include "parked_locks.h"

namespace hprof::monitor {

// Ranked by the time.
inline constexpr const char* kBlameTable = "hprof.monitor_blame/1";
struct BlameRow {
  uint64_t blamed_ns;  // that others waited
  uint64_t waiters;    // threads found waiting, sample by sample
  uint64_t trace;      // hprof_trace_serial of the holder
  uint64_t monitor;    // hprof_class_serial of the lock
};

class Blame {
 public:
  static constexpr uint64_t kBetweenNs = 50'000'000;  // between questions to the VM, on average
  static constexpr uint64_t kLeastMemory = ContentionTable::kLeastMemory;

  // finds_monitors: the VM tells what a thread is blocked on, and what it holds. False: no memory. [control]
  bool open(const Services& services, jvmtiEnv* jvmti, BlockedStacks* stacks, BlockedThreads* blocked,
            bool finds_monitors);
  void close();                     // the sampler thread has ended [control]
  void clear() { table_.clear(); }  // [control]

  // All by the sampler thread. The first question to the VM comes after `now`.
  void start(uint64_t now);
  // A thread was parked for `ns` on the lock, whose owner is `holder` (null: not known). With room for three
  // local references.
  void charge_parked(JNIEnv* jni, const ParkedLocks& locks, jobject lock, jthread holder,
                     hprof_class_serial kind, uint64_t ns);
  // Ends a sample.
  void look_at_monitors(JNIEnv* jni, uint64_t now);

  // Nothing without rows. [control]
  hprof_status write(double cutoff) const;

 private:
  bool draw(BlockedNow* drawn, BlockedThread** entry, uint64_t* waiting);
  jobject monitor_of(JNIEnv* jni, const BlockedNow& drawn, BlockedThread* entry) const;
  bool still_holds(JNIEnv* jni, jthread holder, jobject monitor) const;
  hprof_trace_serial stack_of(JNIEnv* jni, jthread holder) const;
  void add(hprof_trace_serial trace, hprof_class_serial kind, uint64_t threads, uint64_t ns);

  Services services_;
  jvmtiEnv* jvmti_ = nullptr;
  BlockedStacks* stacks_ = nullptr;
  BlockedThreads* blocked_ = nullptr;
  bool finds_monitors_ = false;
  bool is_open_ = false;
  ContentionTable table_;
  RandomMoments moments_;
  uint64_t asked_ns_ = 0, next_ns_ = 0;
  // The lock charged last in this sample, and the stack of its holder: many threads may wait for one lock.
  jobject lock_ = nullptr;  // local reference
  hprof_trace_serial holders_trace_ = 0;
  uint64_t* lost_ = nullptr;
};

}  // namespace hprof::monitor
