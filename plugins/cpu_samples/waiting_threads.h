// Virtual threads that wait, which no carrier runs (JDK 21 to 27). JVMTI does not list them: so they are
// drawn at random from the sets in which the JDK keeps them, by private fields of
// - jdk.internal.vm.ThreadContainers$RootContainer$TrackingRootContainer: those that were started directly
// - ThreadContainers.CONTAINER_REGISTRY: weak references to executors (ThreadPerTaskExecutor,
// SharedThreadContainer)
// - the structured scopes of their owners (Thread.headStackableScopes, ThreadFlock), which are not in the
// registry.
//
// A draw splits a set (Spliterator.trySplit: halves of the table) and keeps one half by the toss of a coin,
// again and again, until few threads are left: each thread is met with the probability 2^-splits, and stands
// for 2^splits of them. No event is enabled, and no reference is kept past a turn, so nothing changes for the
// program.
#pragma once

#include <cstdint>
#include <jvmti.h>

#include <hprof/cpp/random_moments.hpp>
#include <hprof/cpp/services.hpp>

namespace hprof::samples {

// Used by one thread, the one that owns `jni`.
class WaitingThreads {
 public:
  // False: this VM does not keep such sets.
  bool open(const Services& services, JNIEnv* jni, uint64_t seed);
  void close(JNIEnv* jni);
  bool is_open() const { return registry_ != nullptr; }

  // Meets about `most` of the threads: visit(argument, jni, thread, how many it stands for). The reference is
  // valid in the call. Returns how many were met.
  using Visit = void (*)(void* argument, JNIEnv* jni, jthread thread, double stands_for);
  uint32_t turn(JNIEnv* jni, uint32_t most, Visit visit, void* argument);
  // After turn(), for the same visit: meets threads of the scopes of a platform thread, which stands for so
  // many.
  void follow_scopes(JNIEnv* jni, jthread owner, double stands_for);
  void end_turn();
  // Of the last turn: threads in sets whose number is known; in the sets of those owners and containers that
  // were drawn, right on average; and how many those that it met stand for.
  uint64_t known() const { return known_; }
  double estimated() const { return estimated_; }
  double met() const { return met_weight_; }

 private:
  // How far scopes of scopes are followed.
  static constexpr uint32_t kMostNested = 16;
  static constexpr uint64_t kMostOfScope = 64;
  static constexpr uint64_t kMostContainers = 256;  // of a turn

  jclass find_class(JNIEnv* jni, const char* name);
  jobject call(JNIEnv* jni, jobject on, jmethodID method) const;
  uint64_t size_of(JNIEnv* jni, jobject set) const;
  static uint32_t splits_for(uint64_t size, uint64_t most);
  template <class Each>
  void draw(JNIEnv* jni, jobject set, uint32_t splits, const Each& each);
  void draw_threads(JNIEnv* jni, jobject set, uint32_t splits, double stands_for);
  void draw_scope(JNIEnv* jni, jobject scope, double stands_for);
  jobject threads_of(JNIEnv* jni, jobject container) const;
  void count(uint64_t size, double stands_for);
  void meet(JNIEnv* jni, jthread thread, double stands_for);

  RandomMoments coin_;
  uint64_t known_ = 0;  // threads in the sets of this turn
  double estimated_ = 0;
  uint64_t population_ = 0;  // mean of the last turns
  uint32_t met_ = 0;
  double met_weight_ = 0;  // how many threads those met stand for
  uint32_t nested_ = 0;
  Visit visit_ = nullptr;
  void* argument_ = nullptr;
  // Global references.
  static constexpr uint32_t kMostKept = 16;
  jobject kept_[kMostKept] = {};
  uint32_t kept_count_ = 0;
  jobject root_ = nullptr, registry_ = nullptr;  // sets; root: null where it is not there
  jclass virtual_thread_ = nullptr, executor_ = nullptr, shared_ = nullptr, scope_ = nullptr,
         spliterators_ = nullptr;
  jfieldID carrier_ = nullptr, executor_threads_ = nullptr, shared_threads_ = nullptr, flock_ = nullptr,
           flock_threads_ = nullptr, scopes_ = nullptr, previous_scope_ = nullptr;
  jmethodID size_ = nullptr, spliterator_ = nullptr, try_split_ = nullptr, iterator_ = nullptr,
            has_next_ = nullptr, next_ = nullptr, get_ = nullptr;
};

}  // namespace hprof::samples
