// Finds objects by their id. JVMTI finds an object by its tag only by a search of all tags, so each object
// found is kept by a weak reference, and from the third search on those of its class are found together: a
// walk over the heap marks them in a jvmtiEnv that has no other tags.
#pragma once

#include "classes.h"
#include "object_facts.h"

namespace hprof::jvmpi {

class ObjectFinder {
 public:
  ObjectFinder(const Vm& vm, const Ids* ids, const Classes* classes, const ObjectFacts* facts)
      : vm_(vm), ids_(*ids), classes_(*classes), facts_(*facts) {}

  // A local reference to the object of an id; null: it is gone, or never existed. [app]
  jobject find(JNIEnv* jni, jobjectID id);

 private:
  static constexpr uint32_t kSearches = 2;       // of single objects
  static constexpr uint32_t kTogether = 50'000;  // objects found by one walk
  static constexpr uint64_t kMost = 1'000'000;   // references kept

  static jint JNICALL mark(jlong class_tag, jlong size, jlong* tag, jint length, void* left);
  jobject kept(JNIEnv* jni, uint64_t number);
  void keep(JNIEnv* jni, jobject object, uint64_t number);
  // Keeps up to kTogether objects of the class that are not kept yet. False: there are no more, or it failed.
  bool keep_some(JNIEnv* jni, jclass cls);
  void forget_all(JNIEnv* jni);

  const Vm& vm_;
  const Ids& ids_;
  const Classes& classes_;
  const ObjectFacts& facts_;
  Lock lock_;  // of the references, for a few instructions
  Pages<jweak> kept_;
  Pages<jweak> forgotten_;  // of the time before; another thread may be about to use one
  std::atomic<uint64_t> count_{0};
  std::atomic<uint32_t> searches_{0};
  std::atomic<bool> busy_{false};  // a thread is inside keep_some() or forget_all()
  jvmtiEnv* marker_ = nullptr;
};

}  // namespace hprof::jvmpi
