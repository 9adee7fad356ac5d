// OBJECT_ALLOC, and with it the order in which ids are defined: an object's class before the object, all
// before the event or answer that names it.
//
// An object is marked (kTold) before its event is sent, so that no other thread sends one. A thread that
// needs its id meanwhile waits, though not forever, since the agent's handler may wait for that thread.
#pragma once

#include <hprof/cpp/lock.hpp>

#include "classes.h"
#include "object_finder.h"
#include "pages.h"

namespace hprof::jvmpi {

struct AllocatedClass;

// Objects whose ids were given out while the agent had collections disabled: they live until it enables them,
// as in VMs that do not collect meanwhile.
class ObjectPins {
 public:
  explicit ObjectPins(const Vm& vm) : vm_(vm) {}

  // Calls nest, over all threads. [any] but [signal]
  void hold() { holds_.fetch_add(1, std::memory_order_relaxed); }
  void release();
  // Keeps the object alive, if collections are disabled. [app]
  void add(JNIEnv* jni, jobject object, uint64_t number) {
    if (holds_.load(std::memory_order_relaxed) != 0) keep(jni, object, number);
  }

 private:
  [[gnu::cold]] void keep(JNIEnv* jni, jobject object, uint64_t number);

  const Vm& vm_;
  Lock lock_;  // of the references, for a few instructions
  std::atomic<uint32_t> holds_{0};
  Pages<jobject> pins_;  // by number
};

class Objects {
 public:
  Objects(const Vm& vm, Ids* ids, Notifier* notifier, Classes* classes, ObjectFacts* facts)
      : pins(vm),
        vm_(vm),
        ids_(*ids),
        notifier_(*notifier),
        classes_(*classes),
        facts_(*facts),
        finder_(vm, ids, classes, facts) {}

  // The id of an object for an event or an answer; sends its OBJECT_ALLOC if that is on. Null gives null.
  // [app]
  jobjectID id(JNIEnv* jni, jobject object);
  // Reports a new object, which no other thread has seen.
  void allocated(JNIEnv* jni, jobject object, jclass cls, jlong size);
  // The same, of a reported class on a reported thread; the object has no id yet.
  void allocated_again(JNIEnv* jni, jobject object, const AllocatedClass& of, jlong size);
  // Fills in the class of a new object that allocated() has reported. False: it is not known well enough.
  bool describe(JNIEnv* jni, jclass cls, jlong size, uint32_t reference_shift, AllocatedClass* to);
  // Sends CLASS_LOAD, and OBJECT_ALLOC of the class object, each once and if it is on. Returns the class's
  // number; 0: both are off.
  uint64_t tell_class(JNIEnv* jni, jclass cls);
  void tell_class_of(JNIEnv* jni, jmethodID method);
  // Sends OBJECT_ALLOC by request. False: no such object.
  bool tell_again(JNIEnv* jni, jobjectID id);
  // A local reference to the object of an id; null: collected. [app]
  jobject find(JNIEnv* jni, jobjectID id);
  // Reports all classes, then all objects, with the events that are on. Once, at JVM_INIT_DONE. [app]
  void replay(JNIEnv* jni);
  void tell_prepared_classes(JNIEnv* jni);

  ObjectPins pins;

 private:
  // An object, or kAll, whose event a thread is about to send.
  struct Telling {
    std::atomic<uint64_t> number;  // 0: free
    std::atomic<JNIEnv*> teller;
  };
  static constexpr uint32_t kTellings = 16;
  static constexpr uint64_t kAll = UINT64_MAX;

  // Before the mark. Null: all are in use, and threads that need the object do not wait.
  Telling* begin_telling(JNIEnv* jni, uint64_t number);
  void end_telling(Telling* telling);
  // Waits until no other thread is about to report the object.
  void wait_until_told(JNIEnv* jni, uint64_t number) const;
  bool is_being_told(JNIEnv* jni, uint64_t number) const;
  void tell(JNIEnv* jni, jobject object, jlong tag);
  // `of`: the number of its class.
  void send(JNIEnv* jni, jint type, uint64_t number, uint64_t of, jlong size);

  const Vm& vm_;
  Ids& ids_;
  Notifier& notifier_;
  Classes& classes_;
  ObjectFacts& facts_;
  ObjectFinder finder_;
  Telling tellings_[kTellings] = {};
  std::atomic<uint32_t> tellings_begun_{0};  // without those that have ended
  std::atomic<uint64_t> replayed_{0};        // number of objects
};

}  // namespace hprof::jvmpi
