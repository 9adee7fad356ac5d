// Samples of virtual threads that wait, which no carrier runs: drawn at random in each turn of the wall-clock
// engine. Each stands for as many as the draw left out, and for the time since the last turn. The VM's sets
// say how many threads there are: what a draw counts too few or too many, the next one makes up for.
#pragma once

#include <cstdint>
#include <jvmti.h>

#include "waiting_threads.h"
#include "wall_counts.h"
#include "wall_turns.h"

namespace hprof::samples {

// Used by the sampler thread; forget() by the holder of the book's lock.
class WallVirtual {
 public:
  WallVirtual() = default;
  WallVirtual(const WallVirtual&) = delete;
  WallVirtual& operator=(const WallVirtual&) = delete;

  void open(Shared* shared, jvmtiEnv* jvmti, JNIEnv* jni, WallCounts* counts);
  void close(JNIEnv* jni) { waiting_.close(jni); }

  // Samples virtual threads, those of the scopes of platform threads as well.
  void turn(JNIEnv* jni, WallTurns& turns, WallThreads& owners);
  // How many samples the next turn has threads for.
  uint64_t wanted() const { return found_ < kMostDrawn ? found_ : kMostDrawn; }
  // The time up to now is not counted.
  void forget(uint64_t now) {
    seen_ns_ = now;
    open_ns_ = 0;
    owed_ns_ = 0;
  }

 private:
  static constexpr uint32_t kMostDrawn = 64;  // in a turn

  void follow_owners(JNIEnv* jni, WallTurns& turns, WallThreads& owners);
  static void visit(void* argument, JNIEnv* jni, jthread thread, double stands_for);
  void count(JNIEnv* jni, jthread thread, const jvmtiStackInfo& stack, jint depth, double stands_for);

  Shared* shared_ = nullptr;
  jvmtiEnv* jvmti_ = nullptr;
  WallCounts* counts_ = nullptr;
  WaitingThreads waiting_;
  uint64_t seen_ns_ = 0;  // the time up to here is in the samples, or in open_ns_
  double for_ns_ = 0;     // what a sample of this turn stands for
  double open_ns_ = 0;    // rounding error
  double owed_ns_ = 0;    // time of threads that no sample has counted yet; negative: counted too much
  uint64_t found_ = 0;    // threads in the VM's sets, in the last turn
};

}  // namespace hprof::samples
