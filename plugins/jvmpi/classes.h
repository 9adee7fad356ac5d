// Classes as the agent knows them: the contents of CLASS_LOAD for each, made when first needed and kept until
// the class is unloaded, and the class of each method.
//
// A class is reported once, before any event that names it or one of its methods. If several threads need
// that at once, one sends the event and the others wait, though not forever, since the agent's handler may
// wait for one of them.
#pragma once

#include <hprof/cpp/hash_table.hpp>

#include "arena.h"
#include "ids.h"
#include "notifier.h"

namespace hprof::jvmpi {

// A class of the VM. Lives until forget().
struct ClassInfo {
  JVMPI_ClassLoad load;  // only class_id until is_filled, then constant
  std::atomic<bool> is_filled;
  jweak ref;
  jint kind;  // of its instances: JVMPI_NORMAL_OBJECT, JVMPI_CLASS: an array of objects, JVMPI_INT: int[] ...
  bool hidden;  // one of hprof's own, which are never reported
  Arena::Block* memory;
};

class Classes {
 public:
  Classes(const Vm& vm, Ids* ids, Notifier* notifier) : vm_(vm), ids_(*ids), notifier_(*notifier) {}
  // False: no memory. [onload]
  [[gnu::cold]] bool open();
  void close() {
    table_.close();
    owners_.close();
  }

  // The number of a class, 0: none, and its tag. [app]
  uint64_t number(JNIEnv* jni, jclass cls, jlong* tag);
  uint64_t number(JNIEnv* jni, jclass cls) {
    jlong tag = 0;
    return number(jni, cls, &tag);
  }
  // Sends CLASS_LOAD if it is on and was not sent for this class. [app]
  void tell(JNIEnv* jni, jclass cls);
  // True: CLASS_LOAD was sent. Fast for the class of a method.
  bool is_told(uint64_t number) const;
  bool is_told_of(jmethodID method) const;
  // Sends CLASS_LOAD by request, also for a class whose unloading is being reported. False: no such class.
  // [app]
  [[gnu::cold]] bool tell_again(JNIEnv* jni, jobjectID id);
  // Forgets the class, after CLASS_UNLOAD.
  [[gnu::cold]] void forget(JNIEnv* jni, uint64_t number);
  // Null: unknown class.
  const ClassInfo* info(uint64_t number) const;
  // The class that declares a method; null: unknown, or unloaded. [app]
  jobjectID class_of(JNIEnv* jni, jmethodID method);
  // The method id that was reported to the agent: a method that runs since before its class got probes has
  // another. [app]
  jmethodID current(JNIEnv* jni, jmethodID method);
  // True: the method returns an object or an array. Fast for methods of reported classes. [app]
  bool returns_object(jmethodID method) const;
  // A local reference to the class; null: unloaded.
  jclass find(JNIEnv* jni, uint64_t number) const;
  // Notes that the class that probes of calls call has been loaded. [app]
  [[gnu::cold]] void meet_hidden(JNIEnv* jni);
  // True: the method is of a class that probes call, which is not reported.
  bool is_hidden(jmethodID method) const;

 private:
  static constexpr uint32_t kHiddenMost = 256;
  enum State : uint32_t { kNew, kTelling, kDone };
  struct Slot {
    std::atomic<ClassInfo*> info;
    std::atomic<JNIEnv*> teller;  // the thread that sends it, in state kTelling
    std::atomic<uint32_t> state;
  };
  struct Owner {
    std::atomic<uint64_t> number;
    std::atomic<bool> returns_object;  // set before the owner
  };

  // True: by its signature a method returns an object or an array.
  [[gnu::cold]] static bool gives_object(const char* signature);
  // Runs once for each class; the functions above run at each call or allocation.
  [[gnu::cold]] ClassInfo* make(JNIEnv* jni, jclass cls, uint64_t number, Slot* slot);
  [[gnu::cold]] bool describe(JNIEnv* jni, jclass cls, ClassInfo* info);
  [[gnu::cold]] bool describe_methods(jclass cls, Arena* arena, JVMPI_ClassLoad* load) const;
  [[gnu::cold]] bool describe_method(jmethodID method, Arena* arena, JVMPI_Method* to) const;
  [[gnu::cold]] bool describe_fields(jclass cls, Arena* arena, JVMPI_ClassLoad* load) const;
  [[gnu::cold]] void set_owner(const ClassInfo& info, uint64_t number);
  [[gnu::cold]] void send(JNIEnv* jni, const ClassInfo& info, jint type);
  [[gnu::cold]] void wait_for(const Slot& slot, JNIEnv* jni) const;
  [[gnu::cold]] bool has_targets(char* signature) const;
  [[gnu::cold]] void hide(jclass cls, ClassInfo* info);

  const Vm& vm_;
  Ids& ids_;
  Notifier& notifier_;
  Lock lock_;                                 // lock for filling in ClassInfo
  HashTable<Slot, Growth::kLevels> table_;    // by class number
  HashTable<Owner, Growth::kLevels> owners_;  // by jmethodID
  std::atomic<jmethodID> hidden_[kHiddenMost] = {};
  std::atomic<uint32_t> hidden_count_{0};
};

}  // namespace hprof::jvmpi
