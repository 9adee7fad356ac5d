// Classes as the agent knows them: what CLASS_LOAD says of each, made at the first need and kept until the
// class has gone, and the class of each method.
//
// A class is told of once, before any event that names it or one of its methods. Several threads may meet it
// at a time: one makes the text and sends the event, the others wait for that, but not forever, since the
// agent's handler may wait for one of them.
#pragma once

#include <hprof/cpp/hash_table.hpp>

#include "plugins/jvmpi/arena.h"
#include "plugins/jvmpi/ids.h"
#include "plugins/jvmpi/notifier.h"

namespace hprof::jvmpi {

// A class of the VM. Lives until forget().
struct ClassInfo {
  JVMPI_ClassLoad load;  // class_name null: nothing was asked for yet
  jweak ref;
  jint kind;  // of its instances: JVMPI_NORMAL_OBJECT, JVMPI_CLASS: an array of objects, JVMPI_INT: int[] ...
  bool hidden;  // the agent's own, of which it tells nobody
  Arena::Block* memory;
};

class Classes {
 public:
  Classes(const Vm& vm, Ids* ids, Notifier* notifier) : vm_(vm), ids_(*ids), notifier_(*notifier) {}
  // False: no memory. [onload]
  bool open();
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
  // CLASS_LOAD by request; also of a class that is just being told to have gone. False: no such class. [app]
  bool tell_again(JNIEnv* jni, jobjectID id);
  // After CLASS_UNLOAD.
  void forget(JNIEnv* jni, uint64_t number);
  // Null: not a class that was met.
  const ClassInfo* info(uint64_t number) const;
  // Of the class that declares a method; null: unknown, or gone. [app]
  jobjectID class_of(JNIEnv* jni, jmethodID method);
  // The method that an agent has been told of: what runs since before its class got probes has an id of its
  // own. [app]
  jmethodID current(JNIEnv* jni, jmethodID method);
  // Does the method return an object or an array? Fast for methods of classes that were told. [app]
  bool returns_object(jmethodID method) const;
  // A local reference; null: gone.
  jclass find(JNIEnv* jni, uint64_t number) const;
  // The class that the agent's own probes call is there now. [app]
  void meet_hidden(JNIEnv* jni);
  // Of the classes that the agent's own probes call, of which it tells nobody.
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

  ClassInfo* make(JNIEnv* jni, jclass cls, uint64_t number, Slot* slot);
  bool describe(JNIEnv* jni, jclass cls, ClassInfo* info);
  bool describe_methods(jclass cls, Arena* arena, JVMPI_ClassLoad* load) const;
  bool describe_method(jmethodID method, Arena* arena, JVMPI_Method* to) const;
  bool describe_fields(jclass cls, Arena* arena, JVMPI_ClassLoad* load) const;
  void set_owner(const ClassInfo& info, uint64_t number);
  void send(JNIEnv* jni, const ClassInfo& info, jint type);
  void wait_for(const Slot& slot, JNIEnv* jni) const;
  void hide(jclass cls, ClassInfo* info);

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
