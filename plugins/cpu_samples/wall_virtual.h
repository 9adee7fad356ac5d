// Samples of virtual threads that wait, which no carrier runs: drawn at random in each turn of the wall-clock
// engine. Each stands for as many as the draw left out, and for the time that drawn_time.h says.
#pragma once

#include <cstdint>
#include <jvmti.h>

#include "drawn_time.h"
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
  uint64_t error(uint64_t now) const { return time_.error(now); }
  // How many samples the next turn has threads for.
  uint64_t wanted() const { return time_.found() < kMostDrawn ? time_.found() : kMostDrawn; }
  // The time up to now is not counted.
  void forget(uint64_t now) {
    time_.forget(now);
    open_ns_ = 0;
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
  DrawnTime time_;
  double for_ns_ = 0;   // what a sample of this turn stands for
  double open_ns_ = 0;  // rounding error
};

}  // namespace hprof::samples
