// Classes as the agent knows them: the contents of CLASS_LOAD for each, made when first needed and kept until
// the class is unloaded, and the class of each method.
//
// A class is reported once, before any event that names it or one of its methods. If several threads need it
// at a time, one builds the text and sends the event, and the others wait for that, but not forever, since
// the agent's handler may wait for one of them.
#pragma once

#include <hprof/cpp/hash_table.hpp>

#include "arena.h"
#include "ids.h"
#include "notifier.h"

namespace hprof::jvmpi {

// A class of the VM. Lives until forget().
struct ClassInfo {
  JVMPI_ClassLoad load;  // class_name null: not built yet
  jweak ref;
  jint kind;  // of its instances: JVMPI_NORMAL_OBJECT, JVMPI_CLASS: an array of objects, JVMPI_INT: int[] ...
  bool hidden;  // a class of hprof, which is never reported
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

  // The number of a class, 0: none. [app]
  uint64_t number(JNIEnv* jni, jclass cls);
  // Sends CLASS_LOAD if it is on and was not sent for this class. [app]
  void tell(JNIEnv* jni, jclass cls);
  // Was CLASS_LOAD sent? Of the class of a method this is fast.
  bool is_told(uint64_t number) const;
  bool is_told_of(jmethodID method) const;
  // CLASS_LOAD by request; also of a class whose unloading is just being reported. False: no such class.
  // [app]
  [[gnu::cold]] bool tell_again(JNIEnv* jni, jobjectID id);
  // After CLASS_UNLOAD.
  [[gnu::cold]] void forget(JNIEnv* jni, uint64_t number);
  // Null: unknown class.
  const ClassInfo* info(uint64_t number) const;
  // Of the class that declares a method; null: unknown, or gone. [app]
  jobjectID class_of(JNIEnv* jni, jmethodID method);
  // The method that was reported to the agent: a method that has been running since before its class got
  // probes has another id. [app]
  jmethodID current(JNIEnv* jni, jmethodID method);
  // True: the method returns an object or an array. Fast for methods of reported classes. [app]
  bool returns_object(jmethodID method) const;
  // A local reference; null: gone.
  jclass find(JNIEnv* jni, uint64_t number) const;
  // The class that hprof's probes call exists now. [app]
  [[gnu::cold]] void meet_hidden(JNIEnv* jni);
  // True: the class is called by hprof's probes, and is not reported.
  bool is_hidden(jmethodID method) const;

 private:
  static constexpr uint32_t kHiddenMost = 64;
  enum State : uint32_t { kNew, kTelling, kDone };
  struct Slot {
    std::atomic<ClassInfo*> info;
    std::atomic<JNIEnv*> teller;  // kTelling: on this thread
    std::atomic<uint32_t> state;
  };
  struct Owner {
    std::atomic<uint64_t> number;
    std::atomic<bool> returns_object;  // set before
  };

  // Of a method's signature: the method returns an object or an array.
  [[gnu::cold]] static bool gives_object(const char* signature);
  // Cold: once for each class; the rest is asked at each call or allocation.
  [[gnu::cold]] ClassInfo* make(JNIEnv* jni, jclass cls, uint64_t number, Slot* slot);
  [[gnu::cold]] bool describe(JNIEnv* jni, jclass cls, ClassInfo* info);
  [[gnu::cold]] bool describe_methods(jclass cls, Arena* arena, JVMPI_ClassLoad* load) const;
  [[gnu::cold]] bool describe_method(jmethodID method, Arena* arena, JVMPI_Method* to) const;
  [[gnu::cold]] bool describe_fields(jclass cls, Arena* arena, JVMPI_ClassLoad* load) const;
  [[gnu::cold]] void set_owner(const ClassInfo& info, uint64_t number);
  [[gnu::cold]] void send(JNIEnv* jni, const ClassInfo& info, jint type);
  [[gnu::cold]] void wait_for(const Slot& slot, JNIEnv* jni) const;
  [[gnu::cold]] void hide(jclass cls, ClassInfo* info);

  const Vm& vm_;
  Ids& ids_;
  Notifier& notifier_;
  Lock lock_;                                 // of texts that are put into infos
  HashTable<Slot, Growth::kLevels> table_;    // by number
  HashTable<Owner, Growth::kLevels> owners_;  // by jmethodID
  jmethodID hidden_[kHiddenMost] = {};
  std::atomic<uint32_t> hidden_count_{0};
};

}  // namespace hprof::jvmpi
