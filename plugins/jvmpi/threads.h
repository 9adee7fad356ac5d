// Threads as the agent knows them: by JNIEnv*. JVMTI needs their Thread object, which is kept here.
//
// A later thread may get the same JNIEnv*: entries stay and change their owner. A thread makes its own entry;
// VMInit makes those of earlier threads.
#pragma once

#include <hprof/cpp/hash_table.hpp>

#include "objects.h"

namespace hprof::jvmpi {

struct ThreadEntry;
struct CalledMethod;

// A call that a thread is in, with a place for each depth.
struct Call {
  Call* above;
  Call* below;
  ThreadEntry* thread;
  CalledMethod* method;
};

struct ThreadEntry {
  std::atomic<void*> local;     // SetThreadLocalStorage
  std::atomic<jthread> object;  // global reference; null: no such thread now
  std::atomic<bool> told;       // THREAD_START was sent: THREAD_END will be
  std::atomic<bool> telling;
  // Global reference to the thread that SuspendThread has suspended: its end may have been reported since,
  // but it must still be resumed.
  std::atomic<jthread> suspended;
  std::atomic<jlong> cpu_ns;      // when it was suspended last
  std::atomic<bool> has_run;      // between the last two suspensions
  std::atomic<jlong> wait_began;  // MONITOR_WAIT, by the VM's clock
  std::atomic<jobjectID> waits_for;
  std::atomic<JNIEnv*> contends;   // MONITOR_CONTENDED_ENTER: the owner then
  std::atomic<bool> in_reference;  // an event of a JNI reference is being sent
  // Probes, by its thread alone.
  JNIEnv* env;
  std::atomic<uint32_t> met;  // the notifier's round in which the thread was reported
  Call* next_call;            // null: more are to be made, behind the last
  Call* first_call;
  Call* last_call;
  Notifier::Own own;
};

class Threads {
 public:
  Threads(const Vm& vm, Notifier* notifier, Objects* objects)
      : vm_(vm), notifier_(*notifier), objects_(*objects) {}
  bool open();  // [onload]
  void close() { table_.close(); }

  // env: may be null. Null: no memory, and then that thread stays unknown. [any] but [signal]
  ThreadEntry* entry(JNIEnv* env, bool make);
  // A thread begins, on itself. [app]
  void started(JNIEnv* jni, jthread thread);
  void ended(JNIEnv* jni);
  // Makes entries for threads that began before events came. [app]
  void find_all(JNIEnv* jni);
  // THREAD_START of all that are there, if it is on.
  void tell_all(JNIEnv* jni);
  // THREAD_START of the calling thread, unless it was sent. Before each event.
  void tell_current(JNIEnv* jni);
  // THREAD_START by request, by the id of the Thread object. False: no such thread.
  bool tell_again(JNIEnv* jni, jobjectID id);
  // Its Thread object as a local reference, null: gone, unknown.
  jthread object(JNIEnv* jni, JNIEnv* env);
  // The JNIEnv* of a Thread object; null: none, or unknown.
  JNIEnv* env_of(JNIEnv* jni, jthread thread);
  jint status(JNIEnv* jni, JNIEnv* env);  // GetThreadStatus
  // The calling thread's entry, made if need be.
  ThreadEntry* current(JNIEnv* jni);

 private:
  void tell(JNIEnv* jni, JNIEnv* env, jthread thread, ThreadEntry* entry);
  bool send(JNIEnv* jni, JNIEnv* env, jthread thread, jint type);

  const Vm& vm_;
  Notifier& notifier_;
  Objects& objects_;
  HashTable<ThreadEntry, Growth::kLevels> table_;  // by JNIEnv*
};

}  // namespace hprof::jvmpi
