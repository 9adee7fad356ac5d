// Finds the locks of java.util.concurrent that threads are parked on, which JVMTI does not tell: the thread's
// blocker and the lock's owner are read from fields.
#pragma once

#include <jvmti.h>

namespace hprof::monitor {

class ParkedLocks {
 public:
  // Looks up classes and fields, once. False: this VM does not have them. [control]
  bool open(JNIEnv* jni);
  void close(JNIEnv* jni);  // [control]
  // The lock that the parked thread waits for, and its owner (null: none, or not known), as local references.
  // Null: the thread waits for something else (CountDownLatch), or owns the lock by now. After open(). [any],
  // with room for three local references
  jobject find(JNIEnv* jni, jthread thread, jobject* owner) const;
  // The thread owns the lock, which find() has returned. [any], with room for a local reference
  bool is_owner(JNIEnv* jni, jobject lock, jthread thread) const;

 private:
  jclass synchronizer_ = nullptr;  // global references
  jclass latch_ = nullptr;
  jfieldID blocker_ = nullptr;
  jfieldID owner_ = nullptr;
};

}  // namespace hprof::monitor
