// The locks of java.util.concurrent that threads are parked on. The VM does not tell them: a thread's blocker
// and a lock's owner are read from fields of theirs.
#pragma once

#include <jvmti.h>

namespace hprof::monitor {

class ParkedLocks {
 public:
  // Looks classes and fields up, once. False: this VM does not have them. [control]
  bool open(JNIEnv* jni);
  void close(JNIEnv* jni);  // [control]
  // A local reference to the lock that the parked thread waits for, and one to its owner (null: nobody has
  // it, or the lock does not say). Null: the thread waits for an event (CountDownLatch) or for something
  // else, or it has the lock itself by now. After open(). [any], with room for three local references
  jobject find(JNIEnv* jni, jthread thread, jobject* owner) const;

 private:
  jclass synchronizer_ = nullptr;  // global references
  jclass latch_ = nullptr;
  jfieldID blocker_ = nullptr;
  jfieldID owner_ = nullptr;
};

}  // namespace hprof::monitor
